import { local } from '../../api/endpoint.ts';
import { choice, text } from '../../api/kind.ts';
import type { Command } from '../command.ts';
import { option } from '../params.ts';

const methodKind = { ...choice(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']), anyCase: true };

export function setUp(request: Command): void {
  request
    .description(
      'For endpoints without a command. The path starts with a slash; a full URL must be on the origin of the service.\n' +
        '--paginate follows links, cursors and page numbers and prints one list; with --format ndjson, items as they arrive. ' +
        '--verbose shows status and headers. DELETE asks on a terminal; elsewhere it needs --yes.',
    )
    .params({
      method: local(methodKind, 'HTTP method', { positional: true }),
      path: local(text(), 'path with or without a query, such as /v2/leaderboard', { positional: true }),
      query: option.checkedTexts(
        'query parameter, name=value',
        (typed) => typed.indexOf('=') > 0,
        'must be name=value, such as limit=10',
        { short: 'q', noCommaSplit: true, valueName: 'name=value' },
      ),
      data: option.text('JSON body: the text itself, @file, or - for stdin', { short: 'd', valueName: 'json' }),
      paginate: option.flag('request all following pages too'),
    })
    .requests()
    .prints()
    .example('--sandbox request GET /v2/leaderboard -q chains=solana -q limit=3', 'a list, as JSON')
    .example('--sandbox request GET /v2/leaderboard -q limit=1 --verbose', 'with status and headers on stderr')
    .run(async (input, context) => (await import('./send.ts')).sendTyped(input, context));
}
