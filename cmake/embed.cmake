# stillpoint_embed(target FILE...) compiles files into a program; tools/embedded.h finds them.
# SPDX-License-Identifier: MIT
#
# FILE is relative to the calling folder, and that is the name it is found by.  A changed
# file, or list of files, is embedded again by the next build.  Once per target, since it
# defines the one table of the program; the target compiles tools/embedded.c as well.
#
# This file is also the script that the build runs, as `cmake -D LIST=... -D OUT=... -P`:
# LIST holds a line "NAME|PATH" for each file, OUT is the C file to write.

function(stillpoint_embed target)
    set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.list)
    set(out ${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.c)
    set(lines "")
    set(paths "")
    foreach(name IN LISTS ARGN)
        # What a C string, a list or a line of LIST would read as something else.
        if(NOT name MATCHES "^[A-Za-z0-9_./+-]+$")
            message(FATAL_ERROR "stillpoint_embed: '${name}' is no plain name")
        endif()
        set(path ${CMAKE_CURRENT_SOURCE_DIR}/${name})
        if(NOT EXISTS ${path} OR IS_DIRECTORY ${path})
            message(FATAL_ERROR "stillpoint_embed: there is no file ${path}")
        endif()
        string(APPEND lines "${name}|${path}\n")
        list(APPEND paths ${path})
    endforeach()
    if(NOT paths)
        message(FATAL_ERROR "stillpoint_embed: no files for ${target}")
    endif()
    # Written only when it differs, so that configuring again builds nothing again.
    file(GENERATE OUTPUT ${list} CONTENT "${lines}")
    add_custom_command(OUTPUT ${out}
        COMMAND ${CMAKE_COMMAND} -D LIST=${list} -D OUT=${out} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
        DEPENDS ${list} ${paths} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
        COMMENT "Embedding files into ${target}" VERBATIM)
    target_sources(${target} PRIVATE ${out})
endfunction()

# One array per file, with a NUL behind it, and the table of them all.
function(stillpoint_write_embedded list out)
    set(arrays "")
    set(rows "")
    set(number 0)
    file(STRINGS ${list} lines)
    foreach(line IN LISTS lines)
        string(REGEX MATCH "^([^|]+)\\|(.+)$" whole "${line}")
        set(name ${CMAKE_MATCH_1})
        file(READ ${CMAKE_MATCH_2} digits HEX)
        string(LENGTH "${digits}" length)
        math(EXPR length "${length} / 2")
        string(REGEX REPLACE "(..)" "0x\\1," bytes "${digits}")
        string(REGEX REPLACE "((0x..,)(0x..,)?(0x..,)?(0x..,)?(0x..,)?(0x..,)?(0x..,)?(0x..,)?)"
            "\n    \\1" bytes "${bytes}")
        string(APPEND arrays "static const unsigned char file_${number}[] = {${bytes}\n    0x00\n};\n")
        string(APPEND rows "    { \"${name}\", (const char *)file_${number}, ${length} },\n")
        math(EXPR number "${number} + 1")
    endforeach()
    file(WRITE ${out} "/* Written by cmake/embed.cmake. */\n"
        "#include \"tools/embedded.h\"\n\n${arrays}\n"
        "const struct embedded_file embedded_files[] = {\n${rows}};\n"
        "const size_t embedded_file_count = ${number};\n")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    stillpoint_write_embedded(${LIST} ${OUT})
endif()
