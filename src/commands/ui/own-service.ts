import { endpoints } from '../../api/endpoints.ts';
import { openCallActivity } from '../../calls/call-activity.ts';
import { isHistoryOff } from '../../calls/log.ts';
import { curlLine } from '../../client/preview.ts';
import { shellWord } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import type { Service } from '../../lib/config/settings.ts';
import type { LiveLog } from '../../pages/live-log.ts';
import { makePageContext, openServiceRoutes } from './service-routes.ts';

/** The part of a page about the service of a context: logged calls, a board and webhooks. */
export async function openOwnService({ kind, baseUrl }: Service, context: Context, live: LiveLog) {
  const named = context.options.context === undefined ? '' : ` --context ${shellWord(context.options.context)}`;
  const commandStart = kind === 'sandbox' ? 'sotra --sandbox' : `sotra${named}`;
  const calls = openCallActivity({ context, commandStart, openSender: () => makePageContext({ context }), live });
  const service = openServiceRoutes({ endpoints, views: await context.views(), commandStart, context });
  return {
    source: calls.source,
    routes: service.routes,
    facts: {
      title: 'service',
      address: kind === 'sandbox' ? 'the built-in sandbox' : baseUrl,
      ...(kind !== 'sandbox' && { curl: firstCurl(baseUrl) }),
      empty: isHistoryOff(context.io) ? 'SOTRA_HISTORY=0: calls are not logged.' : 'No requests yet.',
      line: `${commandStart} leaderboard list`,
    },
    close: async () => void (await Promise.all([calls.close(), service.close()])),
  };
}

/** A curl line that asks a service for its leaderboard. */
export function firstCurl(baseUrl: string, key = '$SOTRA_API_KEY'): string {
  const url = new URL(`${baseUrl}/v2/leaderboard`);
  return curlLine({ method: 'GET', url, headers: { authorization: '' } })
    .trim()
    .replace('$SOTRA_API_KEY', () => key);
}
