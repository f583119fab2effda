# What every target of the project shares, and the one way to declare a layer.

add_library(stillpoint_options INTERFACE)
target_compile_options(stillpoint_options INTERFACE
    -Wall -Wextra -Wshadow -Wundef -Wstrict-prototypes -Wmissing-prototypes
    -fno-omit-frame-pointer)
target_include_directories(stillpoint_options INTERFACE ${CMAKE_SOURCE_DIR})
target_link_libraries(stillpoint_options INTERFACE Threads::Threads)
# No lazy binding: a first call through the PLT inside a stop would take the loader's lock.
target_link_options(stillpoint_options INTERFACE -Wl,-z,now)
if(STILLPOINT_WERROR)
    target_compile_options(stillpoint_options INTERFACE -Werror)
endif()
if(STILLPOINT_SCHED_POINTS)
    target_compile_definitions(stillpoint_options INTERFACE STILLPOINT_SCHED_POINTS=1)
endif()
if(STILLPOINT_SANITIZE STREQUAL "address")
    target_compile_options(stillpoint_options INTERFACE
        -fsanitize=address,undefined -fno-sanitize-recover=all)
    target_link_options(stillpoint_options INTERFACE -fsanitize=address,undefined)
elseif(STILLPOINT_SANITIZE STREQUAL "thread")
    target_compile_options(stillpoint_options INTERFACE -fsanitize=thread)
    target_link_options(stillpoint_options INTERFACE -fsanitize=thread)
elseif(NOT STILLPOINT_SANITIZE STREQUAL "")
    message(FATAL_ERROR "STILLPOINT_SANITIZE is empty, address or thread, not '${STILLPOINT_SANITIZE}'")
endif()

# stillpoint_layer(name BELOW lower-layer SOURCES a.c b.c [LIBS ...])
# BELOW is the one layer directly underneath; its own rights come with it.
function(stillpoint_layer name)
    cmake_parse_arguments(L "" "BELOW" "SOURCES;LIBS" ${ARGN})
    add_library(stillpoint_${name} STATIC ${L_SOURCES})
    target_link_libraries(stillpoint_${name} PUBLIC stillpoint_options ${L_LIBS})
    if(L_BELOW)
        target_link_libraries(stillpoint_${name} PUBLIC stillpoint_${L_BELOW})
    endif()
endfunction()
