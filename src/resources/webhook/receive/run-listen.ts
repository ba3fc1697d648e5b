import { rmSync } from 'node:fs';
import type { Result } from '../../../cli/command.ts';
import type { Context } from '../../../context.ts';
import { usageError } from '../../../errors.ts';
import { replaceFile } from '../../../files/durable-file.ts';
import { formatCount } from '../../../output/format.ts';
import { safeJson } from '../../../output/json.ts';
import { showAddress } from '../../../web/show-address.ts';
import { eventLine } from './events.ts';
import { startForwarder } from './forward.ts';
import type { Inbox, KeepLimits, StoredDelivery, Target } from './inbox.ts';
import { startListener } from './listener.ts';
import { type InboxPlace, openInbox } from './open-inbox.ts';
import { type NamedSecret, readNamedSecrets } from './page/named-secrets.ts';
import type { Page } from './page/start-page.ts';
import { stopOf, type TargetInput, targetsOf, warnOnceAMinute } from './run-forward.ts';

interface ListenInput extends InboxPlace, TargetInput {
  port?: number | undefined;
  host?: string | undefined;
  secretFile: readonly string[];
  toleranceMs: number | undefined;
  maxBytes: number | undefined;
  keep: KeepLimits;
  readyFile?: string | undefined;
  ui?: boolean | undefined;
  open?: boolean | undefined;
}

const defaultPort = 4242;
const defaultBytes = 5 * 1024 * 1024;

/** Receives deliveries and shows their events until Ctrl-C or a signal. Errors: `local-file` for secrets, `locked`, `config` for the port. */
export async function listenForEvents(input: ListenInput, context: Context): Promise<Result> {
  if (input.open && !input.ui) throw usageError('--open would do nothing without --ui', 'Omit it, or add --ui.');
  const secrets = readNamedSecrets(input.secretFile, context);
  const targets = targetsOf(input);
  const inbox = await openInbox(input, context, { listens: true });
  try {
    context.stream();
    await receive(inbox, { input, targets, secrets, context });
    return { kind: 'none' };
  } finally {
    await inbox.close();
  }
}

interface Reception {
  input: ListenInput;
  targets: readonly Target[];
  secrets: readonly NamedSecret[];
  context: Context;
}

async function receive(inbox: Inbox, { input, targets, secrets, context }: Reception): Promise<void> {
  const { world, note } = context;
  const onDiskError = warnOnceAMinute(context);
  const forwarder = await startForwarder({ inbox, targets, context, onDiskError });
  const printer = createPrinter(context);
  const refusals = refusalNotes(note, world.now);
  const keeping = startKeeping(inbox, { limits: input.keep, context, onDiskError });
  let page: Page | undefined;
  const listener = await startListener({
    inbox,
    host: input.host ?? '127.0.0.1',
    port: input.port ?? defaultPort,
    secrets: secrets.map(({ secret }) => secret),
    toleranceMs: input.toleranceMs,
    maxBytes: Math.min(input.maxBytes ?? defaultBytes, inbox.maxBytes ?? Number.POSITIVE_INFINITY),
    now: world.now,
    onStored: printer.print,
    onOther: note,
    onRefused: (refused) => {
      const { method, path, status, reason } = refused;
      refusals.add(`refused ${method} ${path.slice(0, 100)}: ${status}, ${reason}`);
      page?.addRefused(refused);
    },
    onDiskError,
  });
  const { url } = listener;
  try {
    if (input.ui) {
      const { startPage } = await import('./page/start-page.ts');
      const { toleranceMs } = input;
      page = await startPage({ inbox, place: input, secrets, toleranceMs, targets, listensOn: url, context });
    }
    const ready = { url, pid: world.pid, ...(page && { ui: page.url }) };
    if (input.readyFile !== undefined) replaceFile(input.readyFile, `${JSON.stringify(ready)}\n`);
    const count = await inbox.count();
    const stored = count === 0 ? '' : ` ${formatCount(count)} deliveries are stored already.`;
    note(`Listening on ${listener.url} for signed deliveries.${stored} Ctrl-C stops it.`);
    if (page !== undefined) await showAddress(page.url, input, context);
    await Promise.race([stopOf(world.signal), printer.broken, forwarder.broken, ...(page ? [page.broken] : [])]);
  } finally {
    await page?.close();
    await listener.close();
    refusals.close();
    await keeping.stop();
    await forwarder.stop();
    const waiting = await inbox.waiting(targets);
    if (waiting > 0) note(`${formatCount(waiting)} deliveries wait to be forwarded; the next start continues.`);
    if (input.readyFile !== undefined) rmSync(input.readyFile, { force: true });
  }
  await printer.done();
}

/** How often the store is looked at for what it keeps too long. */
const keepEveryMs = 10_000;

function startKeeping(
  inbox: Inbox,
  { limits, context, onDiskError }: { limits: KeepLimits; context: Context; onDiskError: (error: unknown) => void },
) {
  const { now, sleep } = context.world;
  const stopping = new AbortController();
  const isLimited = limits.ms !== undefined || limits.bytes !== undefined;
  const keep = async (): Promise<void> => {
    while (isLimited && !stopping.signal.aborted) {
      await inbox.keep(limits, now()).catch(onDiskError);
      await sleep(keepEveryMs, stopping.signal).catch(() => undefined);
    }
  };
  const ended = keep();
  return {
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

/** Notes at once, and then one in `everyMs`: senders who may be anybody do not fill a screen or a log. */
const [maxNotes, everyMs] = [20, 5000];

/** Notes each of the first refused requests, then some with the number of those between. */
function refusalNotes(note: (text: string) => void, now: () => number) {
  let [allowed, allowedMs, hidden] = [maxNotes, now(), 0];
  const noteHidden = () => {
    if (hidden > 0) note(`refused ${hidden} more requests`);
    hidden = 0;
  };
  return {
    add: (text: string) => {
      const more = Math.floor((now() - allowedMs) / everyMs);
      allowed = Math.min(maxNotes, allowed + Math.max(0, more));
      if (more !== 0) allowedMs = now();
      if (allowed === 0) {
        hidden += 1;
        return;
      }
      allowed -= 1;
      noteHidden();
      note(text);
    },
    close: noteHidden,
  };
}

/** Prints events in the order in which they came; `broken` rejects when the reader of our output is gone. */
function createPrinter({ world, options }: Context) {
  const { out } = world.io;
  const asJson = options.format === 'json' || options.format === 'ndjson';
  let last: Promise<void> = Promise.resolve();
  let fail: (error: unknown) => void = () => undefined;
  const broken = new Promise<void>((_, reject) => {
    fail = reject;
  });
  broken.catch(() => undefined);
  const print = ({ events, atMs }: StoredDelivery) => {
    const lines = events.map((each) =>
      asJson ? safeJson(JSON.stringify(each.event)) : eventLine(each, atMs, out.isTTY ? out.width : undefined),
    );
    last = last.then(() => out.write(`${lines.join('\n')}\n`));
    last.catch(fail);
  };
  return { print, broken, done: () => last };
}
