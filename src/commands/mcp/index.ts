import type { InputOf } from '../../api/endpoint.ts';
import { type Command, defineCommand, option } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import type { Tool } from '../../mcp/tools.ts';
import { column, listView } from '../../output/columns.ts';
import type { Result } from '../../output/result.ts';

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
  const tools = await readTools(input, context);
  if (context.options.dryRun) {
    const answer = tools.map(({ name, access, description }) => ({ name, access, description }));
    return { kind: 'answer', answer, view: toolsView };
  }
  if (input.config) return printConfig(context);
  context.stream();
  if (context.io.in.isTTY)
    context.note('Waits for a client on stdin: sotra mcp --config prints what to paste into one. Ctrl-C stops it.');
  await (await import('../../mcp/server.ts')).serveAgents(tools, context);
  return { kind: 'none' };
}

const toolsView = listView<Pick<Tool, 'name' | 'access' | 'description'>>([
  column.text('name', 'Tool', 'its name'),
  column.text('access', 'Access', 'read, write or sign'),
  column.text('description', 'What it does', 'what it does', { cut: true }),
]);

/** Errors: `usage`; `signing-key` for a key that is not stored. */
async function readTools(input: McpInput, context: Context): Promise<Tool[]> {
  const { tools, allowWrites, allowSigning, key, passwordFile, secretFile = [] } = input;
  if (allowSigning && key === undefined)
    throw usageError('--allow-signing needs --key: the stored key that may sign', 'sotra key list shows them.');
  if (!allowSigning && (key ?? passwordFile) !== undefined)
    throw usageError(`--${key === undefined ? 'password-file' : 'key'} would do nothing without --allow-signing`);
  if (key !== undefined) {
    const { keyFolder, readStoredKey } = await import('../../keys/keystore.ts');
    readStoredKey(await keyFolder(context), key);
  }
  const [{ endpoints }, { views }] = await Promise.all([import('../../api/endpoints.ts'), import('../views.ts')]);
  const { chooseTools, endpointTool } = await import('../../mcp/tools.ts');
  const { commentTool, eventsTool, verifyTool } = await import('./own-tools.ts');
  const called = endpoints.filter(({ id }) => id !== 'comment.post');
  const signingKey = { key: key ?? '', passwordFile };
  const all = [
    // The view of follow bulk is that of a file.
    ...called.map((endpoint) =>
      endpointTool(endpoint, views[endpoint.id === 'follow.bulk' ? 'follow.add' : endpoint.id]),
    ),
    ...[false, true].map((isPost) => commentTool(signingKey, isPost)),
    eventsTool,
    verifyTool(secretFile),
  ];
  return chooseTools(all, tools, ['read', ...(allowWrites ? ['write'] : []), ...(allowSigning ? ['sign'] : [])]);
}

/** What to paste into a client, which then starts a server as this command line would: it has neither this environment nor this folder. */
async function printConfig({ argv, options, service }: Context): Promise<Result> {
  const { kind, context, baseUrl, isElsewhere } = await service();
  const isTyped = options.sandbox || (options.context ?? options.baseUrl) !== undefined;
  const named = context === undefined || isElsewhere ? ['--base-url', baseUrl] : ['--context', context];
  const flags = isTyped ? [] : kind === 'sandbox' ? ['--sandbox'] : named;
  const args = [...argv.filter((word) => word !== '--config' && word !== '--json'), ...flags];
  const server = { command: 'sotra', args };
  // Source: the documentation of each client.
  const entries = [
    {
      clients: 'Claude Desktop (claude_desktop_config.json), Claude Code (.mcp.json), Cursor (~/.cursor/mcp.json)',
      settings: { mcpServers: { sotra: server } },
    },
    { clients: 'VS Code (.vscode/mcp.json)', settings: { servers: { sotra: { type: 'stdio', ...server } } } },
  ];
  if (options.format === 'json') return { kind: 'answer', answer: { entries } };
  const texts = entries.map(({ clients, settings }) => `${clients}:\n${JSON.stringify(settings, null, 2)}\n`);
  return { kind: 'text', text: texts.join('\n') };
}
