import { type Command, defineCommand, option, type Result } from '../cli/command.ts';
import { writeFlags } from '../cli/globals.ts';
import type { Context } from '../context.ts';
import type { InputOf } from '../contract/endpoint.ts';
import { SotraError, usageError } from '../errors.ts';
import { column } from '../output/columns.ts';
import type { View } from '../output/view.ts';
import type { Tool } from './tool.ts';
import { chooseTools } from './tools.ts';

const params = {
  config: option.flag('print the entry for the settings of Claude, Cursor and VS Code'),
  tools: option.texts('offer these tools only'),
  allowWrites: option.flag('also offer what changes follows, names, copy intents and webhooks'),
  allowSigning: option.flag('also offer signing and posting comments with --key'),
  key: option.text('stored key that may sign (sotra key list)'),
  passwordFile: option.text('file with the password of that key'),
  secretFile: option.texts('file with the secret of a webhook, for verify_webhook'),
};

/** What `sotra mcp` is started with. */
type McpInput = InputOf<typeof params>;

const mcp = defineCommand({
  words: ['mcp'],
  summary: 'Offer the service to agents over the Model Context Protocol',
  description:
    'Serves on stdin and stdout until stdin ends, for a client that starts it: --config prints what to paste there. The tools only read\n' +
    'unless you allow more. A private key is used only for a text that the user has read and agreed to in the client; secrets of webhooks\n' +
    'are never given out. --dry-run lists the tools.',
  params,
  examples: [
    { argv: '--sandbox mcp --config', says: 'what to paste into a client, to try it' },
    { argv: '--sandbox mcp --allow-writes --dry-run', says: 'the tools that would be offered' },
  ],
  uses: ['service', 'answers', 'repeats', 'changes'],
  exitCodes: [3],
  run: runMcp,
});

export const commands: readonly Command[] = [mcp];

/** Serves until stdin ends, Ctrl-C or a signal; with `--dry-run` the tools that would be offered. */
async function runMcp(input: McpInput, context: Context): Promise<Result> {
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
  const { io, note, warn } = context;
  if (io.in.isTTY)
    note('Waits for a client on stdin: sotra mcp --config prints what to paste into one. Ctrl-C stops it.');
  const { createToolCaller, serveAgents } = await import('./server.ts');
  const { call, close } = createToolCaller(context);
  try {
    await serveAgents({ tools, version: io.version, call, warn }, io);
  } catch (thrown) {
    if (!io.signal.aborted) throw thrown;
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
