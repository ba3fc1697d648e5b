import { z } from 'zod';
import { type Command, defineCommand } from '../cli/command.ts';
import { serviceExitCodes } from '../cli/endpoint-command.ts';
import { local } from '../contract/endpoint.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const pair = z
  .string()
  .refine((text) => text.indexOf('=') > 0, 'must be name=value, such as limit=10; the same name may come again');

/** `request`: any request to the service, with the same key, retries, output and exit codes. */
const requestCommand: Command = defineCommand({
  words: ['request'],
  summary: 'Send any request to the service, with its key, and print the JSON answer',
  description:
    'For what has no command. The path begins with a slash; an address is taken on the origin of the service only.\n' +
    '--paginate follows links (pagination.olderItemsURL), cursors (cursor) and page numbers, and prints one list of all items;\n' +
    'with --format ndjson the items as they arrive. --include prints status and headers before the body.',
  params: {
    method: local(
      z.preprocess((text) => (typeof text === 'string' ? text.toUpperCase() : text), z.enum(methods)),
      'HTTP method',
      { positional: true },
    ),
    path: local(z.string().min(1), 'path with or without a query, such as /v2/leaderboard', { positional: true }),
    query: local(z.array(pair).optional(), 'a query parameter, name=value', { short: 'q', whole: true }),
    data: local(z.string().min(1).optional(), 'JSON body: the text itself, @file, or - for stdin', { short: 'd' }),
    paginate: local(z.boolean().optional(), 'go on to the next pages until there are none'),
  },
  examples: [
    { argv: '--sandbox request GET /v2/leaderboard -q chains=solana -q limit=3', says: 'a list, as JSON' },
    { argv: '--sandbox request GET /v2/leaderboard -q limit=1 --include', says: 'with status and headers' },
  ],
  uses: ['requests', 'json'],
  exitCodes: serviceExitCodes,
  run: async (input, context) => (await import('./request-send.ts')).sendTyped(input, context),
});

/** The command, as the program takes it. */
export const commands: readonly Command[] = [requestCommand];
