-- while: a loop over three local variables.  SPDX-License-Identifier: MIT
local function run(turns)
  local i = 0
  local x = 0
  while i < turns do
    x = i - x
    i = i + 1
  end
  return x
end

local start = os.clock()
local result = run(8000000)
local elapsed = os.clock() - start
print(result - 3500000)
print(elapsed * 1000)
