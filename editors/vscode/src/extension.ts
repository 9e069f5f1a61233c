// Starts `warptime lsp` for CUDA files.
import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

function settings() {
  const all = vscode.workspace.getConfiguration("warptime");
  return { gpu: all.get<string>("gpu", ""), options: all.get<string>("options", "") };
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const command = vscode.workspace.getConfiguration("warptime").get<string>("path", "warptime");
  const server: ServerOptions = { command, args: ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: [{ language: "cuda-cpp" }, { pattern: "**/*.{cu,cuh}" }],
    initializationOptions: settings(),
  };
  client = new LanguageClient("warptime", "warptime", server, options);
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("warptime"))
        void client?.sendNotification("workspace/didChangeConfiguration", { settings: settings() });
    }),
  );
  try {
    await client.start();
  } catch (error) {
    void vscode.window.showErrorMessage(
      `${command} lsp does not start: ${String(error)}. Set warptime.path to the command.`,
    );
  }
}

export function deactivate(): Thenable<void> | undefined {
  return client?.stop();
}
