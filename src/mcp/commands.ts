import { type Command, defineCommand, option } from '../cli/command.ts';

const mcp = defineCommand({
  words: ['mcp'],
  summary: 'Offer the service to agents over the Model Context Protocol',
  description:
    'Serves on stdin and stdout until stdin ends, for a client that starts it: --config prints what to paste there. The tools only read\n' +
    'unless you allow more. A private key is used only for a text that the user has read and agreed to in the client; secrets of webhooks\n' +
    'are never given out. --dry-run lists the tools.',
  params: {
    config: option.flag('print the entry for the settings of Claude, Cursor and VS Code'),
    tools: option.texts('offer these tools only'),
    allowWrites: option.flag('also offer what changes follows, names, copy intents and webhooks'),
    allowSigning: option.flag('also offer signing and posting comments with --key'),
    key: option.text('stored key that may sign (sotra key list)'),
    passwordFile: option.text('file with the password of that key'),
    secretFile: option.texts('file with the secret of a webhook, for verify_webhook'),
  },
  examples: [
    { argv: '--sandbox mcp --config', says: 'what to paste into a client, to try it' },
    { argv: '--sandbox mcp --allow-writes --dry-run', says: 'the tools that would be offered' },
  ],
  uses: ['service', 'answers', 'repeats', 'changes'],
  exitCodes: [3],
  run: async (input, context) => (await import('./run-mcp.ts')).runMcp(input, context),
});

export const commands: readonly Command[] = [mcp];
