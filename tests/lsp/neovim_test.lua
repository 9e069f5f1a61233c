-- Neovim's own client: lenses, diagnostics and hover of a document, and what an edit does to them.
--   WARPTIME=… nvim --headless --clean -l, or -u NONE -S this file
local function fail(text)
  io.stderr:write("FAILED: " .. text .. "\n")
  vim.cmd("cquit 1")
end

local ok, why = pcall(function()
  local file = vim.fn.tempname() .. ".cu"
  vim.fn.writefile({
    "// warptime: --gpu h200 --grid 4096 --block 256 --param n=8",
    "__global__ void strided(int n, const float* x, float* y)",
    "{",
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;",
    "    float v = x[32 * i];",
    "    for (int k = 0; k < n; ++k)",
    "        v += y[i + k];",
    "    y[i] = v;",
    "}",
  }, file)
  vim.cmd("edit " .. vim.fn.fnameescape(file))
  local client = vim.lsp.start_client({
    name = "warptime",
    cmd = { vim.env.WARPTIME, "lsp" },
    root_dir = vim.fn.fnamemodify(file, ":h"),
  })
  assert(client, "the server does not start")
  vim.lsp.buf_attach_client(0, client)
  local function wait(what, condition)
    assert(vim.wait(60000, condition, 50), "no " .. what)
  end
  wait("start of the server", function()
    local started = vim.lsp.get_client_by_id(client)
    return started and started.initialized
  end)
  local function lenses()
    local answers = vim.lsp.buf_request_sync(0, "textDocument/codeLens",
      { textDocument = vim.lsp.util.make_text_document_params() }, 10000)
    local titles = {}
    for _, answer in pairs(answers or {}) do
      for _, lens in ipairs(answer.result or {}) do
        titles[lens.range.start.line + 1] = lens.command.title
      end
    end
    return titles
  end
  wait("lens of the kernel", function() return (lenses()[2] or ""):match("^strided: .* on h200") end)
  wait("lens of the loop", function() return (lenses()[6] or ""):match("iterations; %d+%% of strided on h200") end)
  wait("finding", function()
    for _, one in ipairs(vim.diagnostic.get(0)) do
      if one.message:match("^uncoalesced access: ") and one.lnum == 4 then return true end
    end
  end)
  local hover = vim.lsp.buf_request_sync(0, "textDocument/hover",
    { textDocument = vim.lsp.util.make_text_document_params(), position = { line = 4, character = 8 } }, 10000)
  local _, first = next(hover)
  assert(first.result.contents.value:match("load: strided"), "no hover")
  -- Neovim sends edits as incremental changes.
  vim.api.nvim_buf_set_lines(0, 0, 0, false, { "", "" })
  vim.api.nvim_buf_set_lines(0, 8, 9, false, { "        v += nothing;" })
  wait("error of the compiler", function()
    for _, one in ipairs(vim.diagnostic.get(0)) do
      if one.message:match("nothing") and one.lnum == 8 then return true end
    end
  end)
  assert((lenses()[4] or ""):match("^strided: "), "the last lens does not stay")
  vim.api.nvim_buf_set_lines(0, 8, 9, false, { "        v += x[i + k];" })
  wait("end of the error", function() return #vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }) == 0 end)
  -- As a user has it: the lenses behind the lines.
  vim.lsp.codelens.refresh()
  wait("shown lens", function() return #vim.lsp.codelens.get(0) >= 2 end)
  vim.lsp.stop_client(client)
  wait("end of the server", function() return vim.lsp.client_is_stopped(client) end)
end)
if not ok then fail(tostring(why)) else vim.cmd("qall!") end
