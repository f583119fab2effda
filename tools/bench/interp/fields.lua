-- fields: reads and writes of one object's fields.  SPDX-License-Identifier: MIT
local function run(turns)
  local ball = { x = 0, y = 0, right = 3, up = 5 }
  for _ = 0, turns - 1 do
    ball.x = ball.x + ball.right
    ball.y = ball.y + ball.up
    if ball.x < 0 or ball.x > 1000 then ball.right = -ball.right end
    if ball.y < 0 or ball.y > 1000 then ball.up = -ball.up end
  end
  return ball.x * 100 + ball.y
end

local start = os.clock()
local result = run(1000000)
local elapsed = os.clock() - start
print(result)
print(elapsed * 1000)
