import type { Result } from '../cli/command.ts';
import { writeFlags } from '../cli/globals.ts';
import type { Context } from '../context.ts';
import { SotraError, usageError } from '../errors.ts';
import { column } from '../output/columns.ts';
import type { View } from '../output/view.ts';
import type { Tool } from './tool.ts';
import { chooseTools } from './tools.ts';

/** What `sotra mcp` is started with. */
interface McpInput {
  config?: boolean | undefined;
  tools?: readonly string[] | undefined;
  allowWrites?: boolean | undefined;
  allowSigning?: boolean | undefined;
  key?: string | undefined;
  passwordFile?: string | undefined;
  secretFile?: readonly string[] | undefined;
}

/** Serves until stdin ends, Ctrl-C or a signal; with `--dry-run` the tools that would be offered. */
export async function runMcp(input: McpInput, context: Context): Promise<Result> {
  const tools = readTools(input, context);
  if (input.key !== undefined) await checkStoredKey(input.key, context);
  if (context.options.dryRun)
    return {
      kind: 'answer',
      answer: { tools: tools.map(({ name, access, description }) => ({ tool: name, access, summary: description })) },
      view: toolsView,
    };
  if (input.config) return printConfig(input, context);
  context.stream();
  const { world, note, warn } = context;
  if (world.io.in.isTTY)
    note('Waits for a client on stdin: sotra mcp --config prints what to paste into one. Ctrl-C stops it.');
  const { createToolCaller } = await import('./server.ts');
  const { serveAgents } = await import('./server.ts');
  const { call, close } = createToolCaller(context);
  try {
    await serveAgents({ tools, version: world.version, call, warn }, world);
  } catch (thrown) {
    if (!world.signal.aborted) throw thrown;
  } finally {
    await close();
  }
  return { kind: 'none' };
}

/** Errors: `usage`. */
function readTools(input: McpInput, { program }: Context): Tool[] {
  const { tools: names, allowWrites = false, allowSigning = false, key, passwordFile, secretFile = [] } = input;
  if (allowSigning && key === undefined)
    throw usageError('--allow-signing needs --key: the stored key that may sign', 'sotra key list shows them.');
  if (!allowSigning && (key ?? passwordFile) !== undefined)
    throw usageError(`--${key === undefined ? 'password-file' : 'key'} would do nothing without --allow-signing`);
  const signingKey = key === undefined ? undefined : { key, passwordFile };
  return chooseTools(program.outlines, { names, allowWrites, signingKey, secretFiles: secretFile });
}

/** Errors: `signing-key` for a key that is not stored. */
async function checkStoredKey(key: string, context: Context): Promise<void> {
  const { keyFolder, readStoredKey } = await import('../keys/keystore.ts');
  readStoredKey(await keyFolder(context), key);
}

interface ToolRow {
  tool: string;
  access: string;
  summary: string;
}

const toolsView: View<{ tools: ToolRow[] }, ToolRow> = {
  layout: 'table',
  rows: ({ tools }) => tools,
  columns: [
    column.text('tool', 'Tool', 'its name'),
    column.text('access', 'Access', 'read, write or sign'),
    column.text('summary', 'What it does', 'summary', { cut: 'end' }),
  ],
};

/** What to paste into a client, which then starts a server as this command line would. The API key is in none of it. */
async function printConfig(input: McpInput, context: Context): Promise<Result> {
  const { timeoutMs, retries, format } = context.options;
  const flags = writeFlags({
    '--timeout': timeoutMs === defaultTimeoutMs ? undefined : `${timeoutMs}ms`,
    '--retries': retries,
    '--tools': input.tools?.join(','),
    '--allow-writes': input.allowWrites,
    '--allow-signing': input.allowSigning,
    '--key': input.key,
    '--password-file': input.passwordFile,
    '--secret-file': input.secretFile,
  });
  const server = { command: 'sotra', args: ['mcp', ...(await nameService(context)), ...flags] };
  // Source: the documentation of each client.
  const entries = [
    {
      clients: 'Claude Desktop (claude_desktop_config.json), Claude Code (.mcp.json), Cursor (~/.cursor/mcp.json)',
      settings: { mcpServers: { sotra: server } },
    },
    { clients: 'VS Code (.vscode/mcp.json)', settings: { servers: { sotra: { type: 'stdio', ...server } } } },
  ];
  if (format === 'json') return { kind: 'answer', answer: { entries } };
  const texts = entries.map(({ clients, settings }) => `${clients}:\n${JSON.stringify(settings, null, 2)}\n`);
  return { kind: 'text', text: texts.join('\n') };
}

/** Of `--timeout`. */
const defaultTimeoutMs = 30_000;

/** The service by flags: a client has neither this environment nor this folder. */
async function nameService(context: Context): Promise<string[]> {
  try {
    const { kind, context: name, baseUrl, isElsewhere } = await context.service();
    if (kind === 'sandbox') return ['--sandbox'];
    return name === undefined || isElsewhere ? ['--base-url', baseUrl] : ['--context', name];
  } catch (thrown) {
    if (!(thrown instanceof SotraError) || thrown.code !== 'no-service') throw thrown;
    context.note(`${thrown.message}: the entry names none. ${thrown.hint}`);
    return [];
  }
}
