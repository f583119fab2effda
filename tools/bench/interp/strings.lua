-- strings: built by concatenation, and compared.  SPDX-License-Identifier: MIT
local function build(pieces, piece)
  local text = ""
  for _ = 0, pieces - 1 do text = text .. piece end
  return text
end

local function run(turns)
  local wanted = build(200, "ab")
  local equal = 0
  for _ = 0, turns - 1 do
    if build(200, "ab") == wanted then equal = equal + 1 end
    if build(199, "ab") .. "ba" == wanted then equal = equal + 1000 end
  end
  return equal
end

local start = os.clock()
local result = run(2000)
local elapsed = os.clock() - start
print(result)
print(elapsed * 1000)
