import { safeText } from '../../api/safe-text.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { writeReadyFiles } from '../../lib/files/durable-file.ts';
import { untilAborted } from '../../lib/io.ts';
import { plannedAddress, showPlan } from '../../lib/output/confirm.ts';
import { counted } from '../../lib/output/format.ts';
import { safeJson } from '../../lib/output/json.ts';
import { cutText, displayWidth } from '../../lib/output/text-width.ts';
import { type Result, withoutFlagged } from '../../lib/output/view.ts';
import { showAddress } from '../../pages/serve.ts';
import { describeEvent, type EventSummary } from '../../webhooks/events.ts';
import { startForwarder } from '../../webhooks/forward.ts';
import { defaultRepeatsMs, type KeepLimits, type StoredDelivery } from '../../webhooks/inbox.ts';
import { startListener } from '../../webhooks/listener.ts';
import { openInbox, placeOfInbox } from './open-inbox.ts';
import type { Page, PageOptions } from './page/activity-page.ts';
import { addRefused, addStored, addTry } from './page/delivery-activity.ts';
import type { ListenInput } from './params.ts';
import { noteOpen, noteUnforwarded, parseTargets, planForwarding, warnOnceAMinute } from './run-forward.ts';
import { explainRefusal, readNamedSecrets } from './verification.ts';

const defaultPort = 4242;

/** Receives deliveries and shows their events until Ctrl-C or a signal. Errors: `local-file` for secrets, `locked`, `config` for the port. */
export async function listenForEvents(input: ListenInput, context: Context): Promise<Result> {
  const secrets = await readNamedSecrets(input.secretFile, context);
  const targets = parseTargets(input, context.warn);
  const keep = readLimits(input.keep);
  const options = { listens: true, repeatsMs: input.repeatsWithin, keep, replicas: input.replicas };
  const address = plannedAddress(input.port ?? defaultPort, input.host);
  if (context.options.dryRun)
    return showPlan([
      { action: 'listen', what: 'for signed deliveries', detail: address },
      { action: 'store', what: 'their events', detail: await placeOfInbox(input, context, options) },
      ...(keep ? [{ action: 'delete', what: 'the oldest events beyond --keep', detail: null }] : []),
      ...planForwarding(targets),
      ...(input.ui ? [{ action: 'serve', what: 'a page', detail: plannedAddress() }] : []),
    ]);
  const inbox = await openInbox(input, context, options);
  // A repeat of an event that is no longer known counts as new.
  const knownMs = Math.min(input.repeatsWithin ?? defaultRepeatsMs, keep?.ms ?? Number.POSITIVE_INFINITY);
  const toleranceMs = input.tolerance ?? knownMs;
  try {
    context.stream();
    const secretFile = input.secretFile[0] ?? '';
    await receive(input, { inbox, location: input, targets, secrets, secretFile, toleranceMs, context });
    return { kind: 'none' };
  } finally {
    await inbox.close();
  }
}

/** Errors: `usage` for two limits of a kind. */
function readLimits(given: ListenInput['keep']): KeepLimits | undefined {
  if (given === undefined) return undefined;
  const ms = given.flatMap((limit) => ('ms' in limit ? limit.ms : []));
  const bytes = given.flatMap((limit) => ('bytes' in limit ? limit.bytes : []));
  if (ms.length > 1 || bytes.length > 1)
    throw usageError('--keep takes at most one time and one size', 'Omit one of them.');
  return { ms: ms[0], bytes: bytes[0] };
}

/** Receives into an inbox; the page, if any, shows the same. */
async function receive(input: ListenInput, reception: Omit<PageOptions, 'listensOn'>): Promise<void> {
  const { inbox, targets, secrets, toleranceMs, context } = reception;
  const { io, note } = context;
  const onDiskError = warnOnceAMinute(context);
  await noteUnforwarded(inbox, { targets, location: input }, context);
  let page: Page | undefined;
  const forwarder = await startForwarder({
    inbox,
    targets,
    context,
    onError: onDiskError,
    onTry: (made, waitMs) => page && addTry(page.activity, made, waitMs),
  });
  const printer = createPrinter(context);
  const refusals = refusalNotes(note, io.now);
  let listener: Awaited<ReturnType<typeof startListener>> | undefined;
  let removeReadyFile = () => {};
  try {
    listener = await startListener({
      inbox,
      host: input.host ?? '127.0.0.1',
      port: input.port ?? defaultPort,
      secrets: secrets.map(({ secret }) => secret),
      toleranceMs,
      now: io.now,
      onStored: (delivery) => {
        printer.print(delivery);
        if (page !== undefined) addStored(page.activity, delivery);
      },
      onOther: note,
      onRefused: (refused) => {
        const { method, path, status } = refused;
        refusals.add(() => `refused ${method} ${path.slice(0, 100)}: ${status}, ${explainRefusal(refused, secrets)}`);
        if (page !== undefined) addRefused(page.activity, refused);
      },
      onMalformed: (status, why) => refusals.add(() => `refused a request: ${status}, ${why}`),
      onDiskError,
    });
    const { url } = listener;
    if (input.ui) {
      const { startPage } = await import('./page/activity-page.ts');
      page = await startPage({ ...reception, listensOn: url });
    }
    removeReadyFile = writeReadyFiles([input.readyFile], { url, pid: io.pid, ...(page && { ui: page.url }) });
    const { stored } = await inbox.summary();
    const already = stored === 0 ? '' : ` Stored already: ${counted(stored, 'delivery')}.`;
    note(`Listening on ${url} for signed deliveries.${already} Ctrl-C stops it.`);
    if (page !== undefined) await showAddress(page, input, context);
    const failures = [printer.broken, forwarder.broken, ...(page ? [page.activity.following] : [])];
    await Promise.race([untilAborted(io.signal), ...failures]);
  } finally {
    await page?.close();
    await listener?.close();
    refusals.close();
    removeReadyFile();
    await forwarder.stop();
    await noteOpen(inbox, targets, context);
  }
  await printer.done();
}

const [maxNotes, minuteMs] = [20, 60_000];

/** Notes refused requests, the first ones of a minute each, the others as a number: anyone may send them, and they must not fill the log. */
function refusalNotes(note: (text: string) => void, now: () => number) {
  let [sinceMs, count] = [now(), 0];
  const noteHidden = () => {
    if (count > maxNotes) note(`refused ${counted(count - maxNotes, 'more request')}`);
    count = 0;
  };
  return {
    add: (makeText: () => string) => {
      if (now() - sinceMs >= minuteMs) {
        noteHidden();
        sinceMs = now();
      }
      count += 1;
      if (count <= maxNotes) note(makeText());
    },
    close: noteHidden,
  };
}

/** Characters buffered for a slow reader of the output; events beyond are stored and not printed. */
const maxWaiting = 16 * 1024 ** 2;

/** Prints events in the order in which they came; `broken` rejects when the reader of our output is gone. */
function createPrinter({ io, options, warn }: Context) {
  const { out } = io;
  const asJson = options.format === 'json' || options.format === 'ndjson';
  let [waiting, omitted] = [0, 0];
  let last = Promise.resolve();
  let fail: (error: unknown) => void = () => undefined;
  const broken = new Promise<never>((_, reject) => {
    fail = reject;
  });
  broken.catch(() => undefined);
  const write = async (text: string) => {
    await out.write(text);
    waiting -= text.length;
    if (waiting > 0 || omitted === 0) return;
    warn(`${counted(omitted, 'event')} not printed, because the output was not read; sotra webhook events lists them`);
    omitted = 0;
  };
  const print = ({ events, atMs }: StoredDelivery) => {
    for (const each of events) {
      const line = asJson
        ? safeJson(JSON.stringify(each.event))
        : eventLine(withoutFlagged(each), atMs, out.isTTY ? out.width : undefined);
      if (waiting + line.length > maxWaiting) {
        omitted += 1;
        continue;
      }
      waiting += line.length + 1;
      last = last.then(() => write(`${line}\n`));
    }
    last.catch(fail);
  };
  return { print, broken, done: () => last };
}

/** One line about an event as it arrives: time, kind, reason, what happened, id; `width` absent: separated by tabs. */
export function eventLine(summary: EventSummary, atMs: number, width: number | undefined): string {
  const { event, eventType, eventId } = summary;
  const reason = typeof event['reason'] === 'string' ? event['reason'] : '';
  const time = new Date(atMs).toISOString();
  const about = safeText(describeEvent(summary));
  const id = safeText(eventId);
  if (width === undefined) return [time, safeText(eventType), safeText(reason), about, id].join('\t');
  const kind = reason === '' ? eventType : `${eventType} (${reason})`;
  const maxWidth = Math.max(40, width - displayWidth(id) - 2);
  const line = cutText(`${time.slice(11, 19)}Z  ${safeText(kind)}  ${about}`, maxWidth);
  return `${line}${' '.repeat(maxWidth - displayWidth(line))}  ${id}`;
}
