-- closures: made, called, and changing the variable that they share.  SPDX-License-Identifier: MIT
local function run(turns)
  local calls = 0
  local function adder(by)
    return function(to)
      calls = calls + 1
      return to + by
    end
  end
  local x = 0
  for _ = 0, turns - 1 do
    local up = adder(3)
    local down = adder(-2)
    x = down(up(down(up(x))))
  end
  return calls - x
end

local start = os.clock()
local result = run(250000)
local elapsed = os.clock() - start
print(result)
print(elapsed * 1000)
