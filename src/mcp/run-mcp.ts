import type { Result } from '../cli/command.ts';
import { flagsOf } from '../cli/globals.ts';
import type { Context } from '../context.ts';
import { SotraError, usageError } from '../errors.ts';
import { writeReadyFiles } from '../files/durable-file.ts';
import { newRunToken } from '../model/run-token.ts';
import { column } from '../output/columns.ts';
import type { View } from '../output/view.ts';
import { untilAborted } from '../pages/live-log.ts';
import { openStdin, unlessAborted } from './greeting.ts';
import type { Preset, Tool } from './tool.ts';
import { chooseTools } from './tools.ts';

/** What `sotra mcp` is started with. */
interface McpInput {
  http?: number | undefined;
  readyFile?: string | undefined;
  config?: boolean | undefined;
  preset?: Preset | undefined;
  tools?: readonly string[] | undefined;
  allowWrites?: boolean | undefined;
  allowSigning?: boolean | undefined;
  key?: string | undefined;
  passwordFile?: string | undefined;
  secretFile?: readonly string[] | undefined;
}

/** Serves until stdin ends, Ctrl-C or a signal; with `--dry-run` the tools that would be offered. */
export async function runMcp(input: McpInput, context: Context): Promise<Result> {
  const tools = toolsOf(input, context);
  if (input.key !== undefined) await checkKey(input.key, context);
  if (context.options.dryRun) return { kind: 'answer', answer: { tools: tools.map(rowOf) }, view: toolsView };
  if (input.config) return configOf(input, context);
  context.stream();
  const { world, note, warn } = context;
  const { http } = input;
  if (http === undefined && world.io.in.isTTY)
    note('Waits for a client on stdin: sotra mcp --config prints what to paste into one. Ctrl-C stops it.');
  const opened = http === undefined ? await unlessAborted(openStdin(world), world.signal) : undefined;
  if (world.signal.aborted) return { kind: 'none' };
  const { createCaller } = await import('./call.ts');
  const { httpHandler, serveLines } = await import('./protocol.ts');
  const { call, close } = createCaller(context);
  const options = { tools, version: world.version, call, warn };
  try {
    if (http !== undefined) await serveOverHttp(httpHandler(options), input, http, context);
    else if (opened !== undefined) await serveLines(options, opened, world);
  } finally {
    await close();
  }
  return { kind: 'none' };
}

/** Errors: `usage`. */
function toolsOf(input: McpInput, { program }: Context): Tool[] {
  const { preset, tools: names, allowWrites = false, allowSigning = false, key, passwordFile, secretFile = [] } = input;
  if (preset !== undefined && names !== undefined)
    throw usageError('--preset and --tools contradict each other', 'Omit one of them.');
  if (allowSigning && key === undefined)
    throw usageError('--allow-signing needs --key: the stored key that may sign', 'sotra key list shows them.');
  if (!allowSigning && (key ?? passwordFile) !== undefined)
    throw usageError(`--${key === undefined ? 'password-file' : 'key'} would do nothing without --allow-signing`);
  if (input.readyFile !== undefined && input.http === undefined)
    throw usageError('--ready-file would do nothing without --http', 'Omit it.');
  const signingKey = key === undefined ? undefined : { key, passwordFile };
  return chooseTools(program.outlines, { preset, names, allowWrites, signingKey, secretFiles: secretFile });
}

/** Errors: `signing-key` for a key that is not stored. */
async function checkKey(key: string, context: Context): Promise<void> {
  const { keyFolder, readStoredKey } = await import('../keys/keystore.ts');
  readStoredKey(await keyFolder(context), key);
}

interface ToolRow {
  tool: string;
  access: string;
  summary: string;
}

function rowOf({ name, access, description }: Tool): ToolRow {
  return { tool: name, access, summary: description };
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

async function serveOverHttp(
  handler: { fetch: (request: Request) => Promise<Response>; close: () => Promise<void> },
  { readyFile }: McpInput,
  port: number,
  { world, note, warn }: Context,
): Promise<void> {
  const { serveHttp } = await import('./http.ts');
  const token = newRunToken();
  const server = await serveHttp(handler.fetch, { port, token, warn });
  let removeReadyFile = () => {};
  try {
    removeReadyFile = writeReadyFiles([readyFile], { url: server.url, pid: world.pid, token });
    if (readyFile === undefined) await world.io.err.write(`Token, shown once: ${token}\n`);
    note(`Tools for agents on ${server.url}. Ctrl-C stops it.`);
    await untilAborted(world.signal);
  } finally {
    await server.close();
    await handler.close();
    removeReadyFile();
  }
}

/** The entry for clients that starts a server as this command line would. */
async function configOf(input: McpInput, context: Context): Promise<Result> {
  if (input.http !== undefined)
    throw usageError('--config and --http contradict each other', 'Clients start the server that the entry names.');
  const { timeoutMs, retries } = context.options;
  const { preset, tools, allowWrites, allowSigning, key, passwordFile, secretFile } = input;
  const flags = flagsOf({
    '--timeout': timeoutMs === defaultTimeoutMs ? undefined : `${timeoutMs}ms`,
    '--retries': retries,
    '--preset': preset,
    '--tools': tools?.join(','),
    '--allow-writes': allowWrites,
    '--allow-signing': allowSigning,
    '--key': key,
    '--password-file': passwordFile,
    '--secret-file': secretFile,
  });
  const entries = clientEntries(['mcp', ...(await placeFlags(context)), ...flags]);
  return context.options.format === 'json'
    ? { kind: 'answer', answer: { entries } }
    : { kind: 'text', text: describeEntries(entries) };
}

/** Of `--timeout`. */
const defaultTimeoutMs = 30_000;

/** The service by flags: a client has neither this environment nor this folder. */
async function placeFlags(context: Context): Promise<string[]> {
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

/** Clients with the key that holds servers in their settings. Source: the documentation of each. */
const clients = [
  {
    names: 'Claude Desktop (claude_desktop_config.json), Claude Code (.mcp.json), Cursor (~/.cursor/mcp.json)',
    key: 'mcpServers',
    type: {},
  },
  { names: 'VS Code (.vscode/mcp.json)', key: 'servers', type: { type: 'stdio' } },
];

interface ClientEntry {
  clients: string;
  /** What to paste. */
  settings: Record<string, { sotra: { type?: string; command: string; args: readonly string[] } }>;
}

/** The entries of a server that is started with these arguments. The API key is in none: it is stored, or in the environment. */
function clientEntries(args: readonly string[]): ClientEntry[] {
  return clients.map(({ names, key, type }) => ({
    clients: names,
    settings: { [key]: { sotra: { ...type, command: 'sotra', args } } },
  }));
}

function describeEntries(entries: readonly ClientEntry[]): string {
  return entries.map((entry) => `${entry.clients}:\n${JSON.stringify(entry.settings, null, 2)}\n`).join('\n');
}
