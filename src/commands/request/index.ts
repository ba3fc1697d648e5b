import type { Command } from '../command.ts';
import { requestParams } from './params.ts';

export function addRequest(request: Command): void {
  request
    .description(
      'For endpoints without a command. The path starts with a slash; a full URL must be on the origin of the service.\n' +
        '--paginate follows links, cursors and page numbers and prints one list; with --format ndjson, items as they arrive. ' +
        '--verbose shows status and headers. DELETE asks on a terminal; elsewhere it needs --yes.',
    )
    .params(requestParams)
    .requests()
    .prints()
    .example('--sandbox request GET /v2/leaderboard -q chains=solana -q limit=3', 'a list, as JSON')
    .example('--sandbox request GET /v2/leaderboard -q limit=1 --verbose', 'with status and headers on stderr')
    .run(async (input, context) => (await import('./send.ts')).sendTyped(input, context));
}
