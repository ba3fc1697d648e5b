import type { InputOf } from '../../api/endpoint.ts';
import type { Context } from '../../context.ts';
import { column, listView } from '../../lib/output/columns.ts';
import type { Result } from '../../lib/output/view.ts';
import type { Tool } from '../../mcp/tools.ts';
import type { Command } from '../command.ts';
import { option } from '../params.ts';

const params = {
  config: option.flag('print the settings to paste into Claude, Cursor or VS Code'),
  tools: option.texts('offer only these tools'),
  allowWrites: option.flag('also offer tools that change follows, names and webhooks'),
  allowSigning: option.flag('also offer tools that sign and post comments, with --key', { needs: 'key' }),
  key: option.text('stored key that signs (sotra key list)', { valueName: 'name', needs: 'allowSigning' }),
  passwordFile: option.text('file with the password of that key', { needs: 'key' }),
  secretFile: option.texts('file with a webhook secret, for verify_webhook'),
};

type McpInput = InputOf<typeof params>;

export function setUp(mcp: Command): void {
  mcp
    .description(
      'An MCP client starts it; it serves on stdin and stdout until stdin ends. The tools only read unless you allow more.\n' +
        'A private key signs only a text that the user has confirmed in the client; webhook secrets are never shown. --dry-run lists the tools.',
    )
    .params(params)
    .changes()
    .shares('timeout', 'retries')
    .example('--sandbox mcp --config', 'what to paste into a client, to try it')
    .example('--sandbox mcp --allow-writes --dry-run', 'list the tools')
    .run(runMcp);
}

/** Serves until stdin ends or a signal comes; with `--dry-run` it returns the tools. */
async function runMcp(input: McpInput, context: Context): Promise<Result> {
  const tools = await readTools(input, context);
  if (context.options.dryRun) {
    const answer = tools.map(({ name, access, description }) => ({ name, access, description }));
    return { kind: 'answer', answer, view: toolsView };
  }
  if (input.config) return printConfig(context);
  context.stream();
  if (context.io.in.isTTY)
    context.note('Waiting for an MCP client on stdin; sotra mcp --config prints its settings. Ctrl-C stops it.');
  await (await import('../../mcp/server.ts')).serveAgents(tools, context);
  return { kind: 'none' };
}

const toolsView = listView<Pick<Tool, 'name' | 'access' | 'description'>>([
  column.text('name', 'Tool', 'name of the tool'),
  column.text('access', 'Access', 'read, write or sign'),
  column.text('description', 'What it does', 'what it does', { cut: true }),
]);

/** Errors: `signing-key` for a key that is not stored. */
async function readTools(input: McpInput, context: Context): Promise<Tool[]> {
  const { tools, allowWrites, allowSigning, key, passwordFile, secretFile = [] } = input;
  if (key !== undefined) {
    const { keyFolder, readStoredKey } = await import('../../keys/keystore.ts');
    readStoredKey(await keyFolder(context), key);
  }
  const [{ endpoints }, views] = await Promise.all([import('../../api/endpoints.ts'), context.views()]);
  const { chooseTools, endpointTool } = await import('../../mcp/tools.ts');
  const { commentTool, eventsTool, verifyTool } = await import('./own-tools.ts');
  const called = endpoints.filter(({ id }) => id !== 'comment.post');
  const signingKey = { key: key ?? '', passwordFile };
  const all = [
    // The view of follow bulk is made for a file.
    ...called.map((endpoint) =>
      endpointTool(endpoint, views[endpoint.id === 'follow.bulk' ? 'follow.add' : endpoint.id]),
    ),
    ...[false, true].map((isPost) => commentTool(signingKey, isPost)),
    eventsTool,
    verifyTool(secretFile),
  ];
  return chooseTools(all, tools, ['read', ...(allowWrites ? ['write'] : []), ...(allowSigning ? ['sign'] : [])]);
}

/** Settings for a client to start the same server without this environment and folder. */
async function printConfig({ argv, options, config }: Context): Promise<Result> {
  const { kind, context, baseUrl, isElsewhere } = await config.service();
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
  const texts = entries.map(({ clients, settings }) => `${clients}:\n${JSON.stringify(settings, null, 2)}\n`);
  return { kind: 'answer', answer: { entries }, drawn: texts.join('\n') };
}
