import { expect, test } from 'vitest';
import { run, stub } from '../support/harness.ts';
import { type CommandLine, createManualTimeouts, failing, serviceCommands } from '../support/hostile/faults.ts';
import { some } from '../support/size.ts';

const flags = ['--json', '--retries', '1'];

type Sent = 'once' | 'again' | 'again but POST';

/** The exit code of a call that fails so, how often it is sent (once more where that is safe), and the text of the error. */
const faults: readonly (readonly [fault: string, exitCode: number, sent: Sent, says: string | RegExp])[] = [
  ['reset before answer', 9, 'again but POST', /(?:closed|reset) the connection before answering/],
  ['reset in the body', 9, 'again but POST', 'closed the connection in the middle of the answer'],
  ['no first byte', 9, 'again but POST', 'did not answer within 30 s'],
  ['stalled body', 9, 'again but POST', 'did not answer within 30 s'],
  ['400', 6, 'once', 'HTTP 400'],
  ['401', 4, 'once', /HTTP 401|refuses this key/],
  ['403', 4, 'once', /HTTP 403|refuses this key/],
  ['404', 5, 'once', 'HTTP 404'],
  ['409', 6, 'once', 'HTTP 409'],
  ['413', 6, 'once', 'HTTP 413'],
  ['429', 7, 'again', 'HTTP 429'],
  ['429 with Retry-After', 7, 'again', 'HTTP 429'],
  ['500', 8, 'again but POST', 'HTTP 500'],
  ['502', 8, 'again but POST', 'HTTP 502'],
  ['503', 8, 'again but POST', 'HTTP 503'],
  ['garbage', 13, 'once', 'a body that is not JSON'],
  ['truncated JSON', 13, 'once', 'a body that is not JSON'],
  ['endless body', 13, 'once', 'larger than 1 MB'],
  ['redirect in a circle', 9, 'once', 'redirect'],
];

/** One command against a server that fails so: what it ended with, and what the server got, in order. */
async function against(fault: string, { argv, stdin }: CommandLine, more: readonly string[] = flags) {
  const waiting = await createManualTimeouts();
  const service = await stub(failing(fault, waiting));
  const { transport } = waiting;
  const outcome = await run([...argv, ...more], {
    env: service.env,
    stdin,
    skipWaits: true,
    maxAnswerBytes: 1024 ** 2,
    transport,
  });
  return { ...outcome, requests: service.requests.map(({ method }) => method) };
}

/**
 * The methods in the order of sending. A webhook is made only where the list says that there is none yet; whether a comment was taken is looked
 * up where its answer is lost.
 */
function methodsOf({ name, method }: CommandLine, exitCode: number, sent: Sent): string[] {
  const times = sent === 'again' || (sent === 'again but POST' && method !== 'POST') ? 2 : 1;
  const passing = sent !== 'once' || exitCode === 13;
  const listing = sent === 'once' ? 1 : 2;
  if (name === 'webhook register') return Array(listing).fill('GET');
  const isLost = passing && sent !== 'again';
  if (name === 'comment post' && isLost) return ['POST', ...Array(listing).fill('GET')];
  return Array(times).fill(method);
}

test.each(faults)(
  '%s ends every command with %i and one error, and is sent %s',
  async (fault, exitCode, sent, says) => {
    for (const command of ['reset before answer', '503'].includes(fault) ? serviceCommands : some(serviceCommands, 4)) {
      const { name } = command;
      const { code, out, err, requests } = await against(fault, command);
      expect([name, code, out]).toEqual([name, exitCode, '']);
      const { error } = JSON.parse(err);
      expect(error.message).toMatch(says);
      expect([name, requests]).toEqual([name, methodsOf(command, exitCode, sent)]);
    }
  },
);

test('a wrong shape is shown with a warning that names the place, and with --strict is exit 13', async () => {
  for (const command of serviceCommands) {
    const { name } = command;
    // A comment that does not come back as it was signed, and a webhook without its id, are errors of their own.
    const loose = name === 'comment post' ? 12 : name === 'webhook register' ? 13 : 0;
    expect([name, (await against('wrong shape', command)).code]).toEqual([name, loose]);
    const { code, out } = await against('wrong shape', command, [...flags, '--strict']);
    expect([name, code, out]).toEqual([name, 13, '']);
  }
});

test('a refused connection is exit 9 and said so; nothing was sent, so that POST is tried again as well', async () => {
  for (const { name, argv, stdin } of serviceCommands) {
    const env = { SOTRA_BASE_URL: 'http://127.0.0.1:9', SOTRA_API_KEY: 'key' };
    const { code, out, err } = await run([...argv, ...flags], { env, stdin, skipWaits: true });
    expect([name, code, out]).toEqual([name, 9, '']);
    const { error } = JSON.parse(err);
    expect(error.code).toBe('network');
    const reason = 'nothing is listening at http://127.0.0.1:9';
    expect(error.message.startsWith(`${reason} `)).toBe(true);
    // Those that go on with a file say instead where they stopped.
    if (!['webhook register', 'webhook add-addresses', 'follow bulk'].includes(name))
      expect([name, error.details.attempts]).toEqual([name, [0, null].map((waitedMs) => ({ reason, waitedMs }))]);
  }
});
