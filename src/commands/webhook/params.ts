import { isWalletAddress } from '../../api/address.ts';
import { parseDuration, parseSize, parseTime } from '../../api/duration.ts';
import { type InputOf, local } from '../../api/endpoint.ts';
import { httpAddressKind } from '../../api/formats.ts';
import { choice, formatted, integer, listOf, optional, parsed, text } from '../../api/kind.ts';
import { eventTypes } from '../../api/webhook.ts';
import { eventStatuses } from '../../webhooks/inbox.ts';
import { isToken, readRoute, routeForm } from '../../webhooks/route.ts';
import { db, option } from '../params.ts';

/** Where deliveries are stored. */
const storeParams = {
  name: option.checked(
    'name of the local store (default: default)',
    (typed) => /^[\w-]{1,64}$/.test(typed),
    'must be letters, digits, - and _, 64 at most',
    { conflicts: ['inbox', 'inboxCreds'] },
  ),
  inbox: option.text('NATS stream, instead of a local store: nats://host:4222/NAME', { valueName: 'url' }),
  inboxCreds: option.file('NATS credentials file (SOTRA_NATS_CREDS)'),
};

const targetParams = {
  forwardTo: local(optional(listOf(text({ minLength: 0 }))), 'forward every delivery to this URL', {
    valueName: 'url',
  }),
  route: option.checkedTexts(
    'forward some: KIND=URL (sotra help webhooks)',
    (typed) => readRoute(typed) !== undefined,
    routeForm,
  ),
};

const momentOption = (help: string) =>
  option.checked(
    help,
    (typed) => (parseDuration(typed) ?? parseTime(typed)) !== undefined,
    'must be a time such as 2026-07-03T12:00:00Z or how long ago, such as 1h',
    { valueName: 'time' },
  );

function findTokenProblem(typed: string): string | undefined {
  if (isToken(typed)) return undefined;
  const coin = typed.toUpperCase();
  return `must be an EVM or Solana address, or a coin${isToken(coin) ? `; did you mean ${coin}?` : ''}`;
}

const minKeptBytes = 1024 ** 2;

function readLimit(typed: string): { ms: number } | { bytes: number } | undefined {
  const [ms, bytes = 0] = [parseDuration(typed), parseSize(typed)];
  if (ms !== undefined) return { ms };
  return bytes >= minKeptBytes ? { bytes } : undefined;
}

export const listenParams = {
  port: option.count(0, 65_535, 'port; 0 picks a free one (default: 4242)'),
  host: option.text('address to listen on (default: 127.0.0.1)'),
  secretFile: local(listOf(text()), 'file of secrets, one per line'),
  ...targetParams,
  tolerance: option.duration('reject older signatures (default: --repeats-within, or --keep if shorter)', '5m or 1d'),
  keep: local(
    optional(listOf(parsed(readLimit, 'must be a time such as 30d or a size of at least 1MB, such as 5GB'))),
    'delete events beyond this age or total size',
    { valueName: 'limit' },
  ),
  repeatsWithin: option.duration('drop repeats of an event for this long (default: 7d)', '7d or 30d'),
  ...storeParams,
  replicas: local(
    optional(parsed((typed) => [1, 3, 5].find((count) => `${count}` === typed), 'must be 1, 3 or 5')),
    'replicas of a new NATS stream: 1, 3 or 5 (default: 3)',
    { valueName: 'n' },
  ),
  ui: option.flag('show deliveries on a local page'),
  open: option.flag('open the page in the browser', { needs: 'ui' }),
  readyFile: option.text('write {url, pid, ui} to this file once it listens'),
};

export type ListenInput = InputOf<typeof listenParams>;

export const forwardParams = { ...targetParams, ...storeParams };

export type ForwardInput = InputOf<typeof forwardParams>;

export const eventsParams = {
  type: option.text('only this kind, such as new-feed-item'),
  since: momentOption('only events received since a time, or within 1h'),
  until: momentOption('only events received until a time, or before 1h ago'),
  address: option.checked(
    'only events that name this wallet or ext: id',
    (typed) => isWalletAddress(typed) || typed.startsWith('ext:'),
    'must be an EVM or Solana address or ext:<id>',
    { takesAddress: 'wallet' },
  ),
  token: local(
    optional(formatted({ findProblem: findTokenProblem })),
    'only events that name this token address or coin',
    {
      takesAddress: 'token',
    },
  ),
  webhook: option.text('only events sent to this path, or path#secret as in webhook show', { valueName: 'path' }),
  status: local(optional(choice(eventStatuses)), 'only events with this status'),
  limit: local(optional(integer(1)), 'how many (default: 50)'),
  follow: option.flag('print new events as they come, until Ctrl-C', {
    conflicts: ['since', 'until', 'status', 'limit'],
  }),
  wait: option.duration('wait this long for the first event that matches (exit 124 if none)', '30s', {
    conflicts: ['follow', 'until', 'limit'],
  }),
  ...storeParams,
};

export type EventsInput = InputOf<typeof eventsParams>;

export const showParams = {
  id: local(text(), 'id of the event, or its start', { positional: true }),
  secretFile: option.texts('verify the signature again, with these secrets'),
  ...storeParams,
};

export type ShowInput = InputOf<typeof showParams>;

export const replayParams = {
  ids: option.texts('ids of events, or their starts', { positional: true, flag: 'id' }),
  since: momentOption('every delivery received since a time, or within 1h'),
  failed: option.flag('every delivery that was set aside; forwarded once it is accepted'),
  to: local(httpAddressKind, 'where to send them', { valueName: 'url' }),
  ...storeParams,
};

export type ReplayInput = InputOf<typeof replayParams>;

export const verifyParams = {
  secretFile: local(listOf(text()), 'file of secrets, one per line'),
  header: local(optional(text({ minLength: 0 })), 'value of the daylight-signature header, if there was one'),
  file: option.text('read the body from this file instead of stdin'),
  tolerance: option.duration('reject older signatures (default: any age is valid)', '5m or 1d'),
  explain: option.flag('show the signature that each secret gives'),
};

export type VerifyInput = InputOf<typeof verifyParams>;

export const triggerParams = {
  type: local(choice(eventTypes), 'kind of event', { positional: true }),
  to: local(optional(httpAddressKind), 'send it to this URL', { valueName: 'url', conflicts: ['uid'] }),
  secretFile: option.text('sign it with this secret'),
  uid: option.text('send it to this webhook of the sandbox only'),
  position: option.text('position that it is about (default: the newest that fits)', { valueName: 'id' }),
  db,
};

export type TriggerInput = InputOf<typeof triggerParams>;

export const examParams = {
  url: local(httpAddressKind, 'the endpoint', { positional: true }),
  secretFile: local(text(), 'file with the secret of the endpoint; the first of several'),
  junit: option.file('write a JUnit XML report to this file'),
};

export type ExamInput = InputOf<typeof examParams>;
