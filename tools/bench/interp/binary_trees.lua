-- binary_trees: built and walked; one of them lives throughout.  SPDX-License-Identifier: MIT
local function grow(depth)
  if depth == 0 then return {} end
  return { left = grow(depth - 1), right = grow(depth - 1) }
end

local function count(node)
  if not node.left then return 1 end
  return 1 + count(node.left) + count(node.right)
end

local function run(depth)
  local kept = grow(depth)
  local nodes = 0
  for small = 4, depth, 4 do
    local trees = 1
    for _ = small, depth - 1 do trees = trees * 2 end
    for _ = 0, trees - 1 do nodes = nodes + count(grow(small)) end
  end
  return nodes + count(kept)
end

local start = os.clock()
local result = run(16)
local elapsed = os.clock() - start
print(result)
print(elapsed * 1000)
