import { type InputOf, local } from '../../api/endpoint.ts';
import { fitting, httpAddressKind } from '../../api/formats.ts';
import { choice, formatted, integer, listOf, optional, text } from '../../api/kind.ts';
import { isDuration, option } from '../../cli/command.ts';
import { isToken, readRoute, routeForm } from '../../inbox/route.ts';
import { isWalletAddress } from '../../model/address.ts';
import { parseSize, parseTime } from '../../model/duration.ts';

const secretFile = local(
  listOf(text()),
  'file with the secret; several files, or several lines in one, while a secret is being changed',
);
/** The file with the credentials of an inbox. */
const inboxCreds = option.text(
  'file with its user: and password:, its token:, or credentials of nsc (SOTRA_NATS_CREDS)',
);
/** Which inbox. */
const store = {
  name: option.checked(
    'which store, where several listeners run (default: default)',
    (text) => /^[\w-]{1,64}$/.test(text),
    'must be letters, digits, - and _, 64 at most',
  ),
  inbox: option.text(
    "an inbox of several machines instead: nats://host:4222,host:4222/NAME or tls://... (default: the context's, if any)",
  ),
  inboxCreds,
};

const momentOption = (help: string) =>
  option.checked(
    help,
    (text) => isDuration(text) || parseTime(text) !== undefined,
    'must be a time such as 2026-07-03T12:00:00Z or how long ago, such as 1h',
  );

const isKept = (text: string) => isDuration(text) || (parseSize(text) ?? 0) >= 1024 ** 2;

const targetParams = {
  forwardTo: local(optional(listOf(text({ minLength: 0 }))), 'forward every delivery to this address'),
  route: local(
    optional(listOf(formatted(fitting((typed) => readRoute(typed) !== undefined, routeForm)))),
    "forward deliveries with such events: 'comment-created=http://127.0.0.1:3000/c' or '* where chain=base=http://127.0.0.1:3000/b'",
  ),
};

const until = momentOption('only events received until a time, or before 1h ago');
const webhook = option.text('only this webhook: the path that it sends to, or path#secret as webhook show prints it');

export const listenParams = {
  port: option.count(0, 65_535, 'port to listen on (default 4242); 0 picks a free one'),
  host: option.text('address to listen on (default 127.0.0.1: this machine only)'),
  secretFile,
  ...targetParams,
  tolerance: option.duration('refuse signatures older than this (default: --repeats-within)', '5m or 1d'),
  keep: local(
    optional(listOf(formatted(fitting(isKept, 'must be a time such as 30d or a size from 1MB on, such as 5GB')))),
    'remove what is older, or the oldest of what takes more space, and never what waits to be forwarded (503 at twice the size); not with --inbox',
  ),
  repeatsWithin: option.duration(
    'an event that comes again within this time is a repeat (default 7d); an --inbox knows each for as long as it is kept',
    '7d or 30d',
  ),
  ...store,
  replicas: option.checked(
    'servers that hold each event of a new --inbox: 1, 3 or 5 (default 3)',
    (text) => /^[135]$/.test(text),
    'must be 1, 3 or 5',
  ),
  ui: option.flag('show on a local page what is stored, what comes, and why requests are refused'),
  open: option.flag('open the page in the browser; otherwise its address is printed on stderr'),
  readyFile: option.text('write {url, pid} here once it listens; with --ui the address of the page as ui'),
};

export type ListenInput = InputOf<typeof listenParams>;

export const verifyParams = {
  secretFile,
  header: local(optional(text({ minLength: 0 })), 'value of the daylight-signature header (default: there was none)'),
  file: option.text('read the body from this file instead of stdin'),
  tolerance: option.duration('refuse signatures older than this (default: any age; it is shown)', '5m or 1d'),
  explain: option.flag('show the signature that each secret makes of this body'),
};

export type VerifyInput = InputOf<typeof verifyParams>;

export const eventsParams = {
  type: option.text('only this kind, such as new-feed-item'),
  since: momentOption('only events received since a time, or within 1h'),
  until,
  address: option.checked(
    'only events that name this wallet: its trader, an author, its audience',
    (text) => isWalletAddress(text) || text.startsWith('ext:'),
    'must be an EVM or Solana address or ext:<id>',
    { takesAddress: 'wallet' },
  ),
  token: option.checked(
    'only events that name this token: its address, or a coin such as ETH or @107',
    isToken,
    'must be an EVM or Solana address, or a coin',
    { takesAddress: 'token' },
  ),
  webhook,
  status: local(optional(choice(['forwarded', 'waiting', 'refused'])), 'only events whose forwarding is at this point'),
  limit: local(optional(integer(1)), 'how many (default 50)'),
  follow: option.flag('print new events as they come, until Ctrl-C'),
  wait: option.duration('wait for the first event that fits, at most this long; exit 124 if none comes', '30s'),
  ...store,
};

export type EventsInput = InputOf<typeof eventsParams>;

export const showParams = {
  id: local(text(), 'id of the event, or its start; webhook events lists them', { positional: true }),
  secretFile: option.texts('verify the signature once more, by the secrets of these files'),
  ...store,
};

export type ShowInput = InputOf<typeof showParams>;

export const forwardParams = { ...targetParams, ...store };

export type ForwardInput = InputOf<typeof forwardParams>;

export const replayParams = {
  ids: option.texts('ids of events to send, whole or their start; webhook events lists them', {
    positional: true,
    flag: 'id',
  }),
  since: momentOption('every delivery received since a time, or within 1h'),
  to: local(httpAddressKind, 'where to send them'),
  ...store,
};

export type ReplayInput = InputOf<typeof replayParams>;
