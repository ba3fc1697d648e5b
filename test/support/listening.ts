import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunOptions, serve } from './harness.ts';

export const secret = 'whsec_test';

/** A listener in this process: `deliver` sends it a signed body, `stop` ends it and gives what it printed, `shown` is what it printed on stderr so far. */
export async function listen(
  folder: string,
  more: string | readonly string[] = '',
  secrets = `${secret}\n`,
  env: Record<string, string> = {},
  clock: Pick<RunOptions, 'now' | 'skipWaits'> = {},
) {
  const file = join(folder, 'secret');
  writeFileSync(file, secrets, { mode: 0o600 });
  const given = typeof more === 'string' ? more.split(' ').filter(Boolean) : more;
  const port = given.includes('--port') ? [] : ['--port', '0'];
  const argv = ['webhook', 'listen', '--secret-file', file, ...port, ...given];
  const { ready, stop, shown } = await serve(argv, { env: { SOTRA_DATA_DIR: folder, ...env }, ...clock });
  const { url = '', ui = '' }: { url?: string; ui?: string } = ready ?? {};
  const deliver = (body: string) => send(url, body, signed(body));
  return { url, ui, stop, shown, deliver, env: { SOTRA_DATA_DIR: folder } };
}

export function bodyOf(id: string, type = 'new-feed-item'): string {
  return `{"events":[{"eventId":"${id}","eventType":"${type}","walletAddresses":[],"feedItem":{"itemTitle":"Zo\u00eb"}}]}`;
}

export function signed(body: string, by = secret, t = Math.floor(Date.now() / 1000)): Record<string, string> {
  const signature = createHmac('sha256', by).update(`${t}.${body}`).digest('base64url');
  return { 'Daylight-Signature': `t=${t},v1=${signature}`, 'content-type': 'application/json' };
}

export const send = async (url: string, body: string, headers: Record<string, string>, path = '/hook') =>
  (await fetch(url + path, { method: 'POST', body, headers })).status;
