import type { Result } from '../cli/command.ts';
import type { Context } from '../context.ts';
import { SotraError, usageError } from '../errors.ts';
import type { Preset } from './tool.ts';

/** What `sotra mcp` is started with. */
export interface McpInput {
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

/** The entry for clients that starts a server as this command line would. */
export async function configOf(input: McpInput, context: Context): Promise<Result> {
  if (input.http !== undefined)
    throw usageError('--config and --http contradict each other', 'Clients start the server that the entry names.');
  const { timeoutMs, retries } = context.options;
  const { preset, tools, allowWrites, allowSigning, key, passwordFile, secretFile = [] } = input;
  const flags: [flag: string, value: string | boolean | undefined][] = [
    ...(await serviceFlags(context)),
    ['--timeout', timeoutMs === defaultTimeoutMs ? undefined : `${timeoutMs}ms`],
    ['--retries', retries === undefined ? undefined : String(retries)],
    ['--preset', preset],
    ['--tools', tools?.join(',')],
    ['--allow-writes', allowWrites],
    ['--allow-signing', allowSigning],
    ['--key', key],
    ['--password-file', passwordFile],
    ...secretFile.map((file): [string, string] => ['--secret-file', file]),
  ];
  const typed = flags.filter(([, value]) => value !== undefined && value !== false);
  const args = ['mcp', ...typed.flatMap(([flag, value]) => (value === true ? [flag] : [flag, String(value)]))];
  const entries = clientEntries(args);
  return context.options.format === 'json'
    ? { kind: 'answer', answer: { entries } }
    : { kind: 'text', text: describeEntries(entries) };
}

/** Of `--timeout`. */
const defaultTimeoutMs = 30_000;

/** The service by flags: a client has neither this environment nor this folder. */
async function serviceFlags(context: Context): Promise<[string, string | boolean][]> {
  try {
    const { kind, context: name, baseUrl, isElsewhere } = await context.service();
    if (kind === 'sandbox') return [['--sandbox', true]];
    return name === undefined || isElsewhere ? [['--base-url', baseUrl]] : [['--context', name]];
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
