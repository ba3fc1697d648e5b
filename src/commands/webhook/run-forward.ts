import { isHttpAddress, suggestScheme } from '../../api/http-address.ts';
import { hideUrlSecrets } from '../../client/secrets.ts';
import { shellLine } from '../../client/shell.ts';
import type { Context } from '../../context.ts';
import { toSotraError, usageError } from '../../errors.ts';
import { redactText } from '../../lib/files/text-file.ts';
import { untilAborted } from '../../lib/io.ts';
import { type PlannedChange, showPlan } from '../../lib/output/confirm.ts';
import { counted } from '../../lib/output/format.ts';
import type { Result } from '../../lib/output/view.ts';
import { startForwarder } from '../../webhooks/forward.ts';
import type { Inbox, Target } from '../../webhooks/inbox.ts';
import { readRoute, warnOfRoutes } from '../../webhooks/route.ts';
import { type InboxLocation, inboxFlags, openInbox, placeOfInbox } from './open-inbox.ts';
import type { ForwardInput } from './params.ts';

/** Forwards what another process stores, until Ctrl-C or a signal. Errors: `locked` if another process forwards; those of `parseTargets`. */
export async function forwardDeliveries(input: ForwardInput, context: Context): Promise<Result> {
  const targets = parseTargets(input, context.warn);
  const { note, io, options } = context;
  if (options.dryRun)
    return showPlan([
      { action: 'read', what: 'deliveries', detail: await placeOfInbox(input, context) },
      ...planForwarding(targets),
    ]);
  const inbox = await openInbox(input, context);
  try {
    context.stream();
    await noteUnforwarded(inbox, { targets, location: input }, context);
    const forwarder = await startForwarder({ inbox, targets, context, onError: warnOnceAMinute(context) });
    const names = targets.map(({ url }) => hideUrlSecrets(url)).join(', ');
    note(`Forwarding from ${inbox.name} to ${names}. Ctrl-C stops it.`);
    await Promise.race([untilAborted(io.signal), forwarder.broken]).finally(forwarder.stop);
    await noteOpen(inbox, targets, context);
    return { kind: 'none' };
  } finally {
    await inbox.close();
  }
}

export function planForwarding(targets: readonly Target[]): PlannedChange[] {
  return targets.map(({ url, eventType = 'all', where }) => {
    const condition = where === undefined ? '' : ` where ${where}`;
    return { action: 'forward', what: `${eventType} events${condition}`, detail: hideUrlSecrets(url) };
  });
}

/** Adds the targets; for a new one, notes how many deliveries are stored already and how to send them. */
export async function noteUnforwarded(
  inbox: Inbox,
  { targets, location }: { targets: readonly Target[]; location: InboxLocation },
  { note }: Context,
): Promise<void> {
  // Counted first: a new target gets what comes from then on.
  const { stored, oldestMs } = await inbox.summary();
  const added = await inbox.addTargets(targets);
  const unconditional = added.filter((target) => target.eventType === undefined && target.where === undefined);
  if (stored === 0 || oldestMs === undefined) return;
  const since = new Date(Math.floor(oldestMs / 1000) * 1000).toISOString().replace('.000Z', 'Z');
  for (const { url } of unconditional) {
    const to = hideUrlSecrets(url);
    const line = shellLine(['sotra', 'webhook', 'replay', ...inboxFlags(location), '--since', since, '--to', to]);
    const [are, them] = stored === 1 ? ['is', 'it'] : ['are', 'them'];
    note(`${counted(stored, 'stored delivery')} ${are} not forwarded to ${to}. To send ${them}: ${line}`);
  }
}

/** Notes how many deliveries wait, and how many were set aside. */
export async function noteOpen(inbox: Inbox, targets: readonly Target[], { note }: Context): Promise<void> {
  const [waiting, failed] = [await inbox.waiting(targets), await inbox.failed()];
  const wait = waiting === 1 ? 'waits' : 'wait';
  if (waiting > 0) note(`${counted(waiting, 'delivery')} ${wait} to be forwarded; the next start continues.`);
  if (failed > 0) note(`${counted(failed, 'delivery')} set aside: see sotra webhook events --status failed.`);
}

/** Warns of an error at most once a minute: on a full disk each delivery has one. */
export function warnOnceAMinute({ warn, io }: Context): (error: unknown) => void {
  let warnedMs = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (io.now() - warnedMs < 60_000) return;
    warnedMs = io.now();
    const { message, hint } = toSotraError(error);
    warn(`${message}. ${hint}`);
  };
}

/** Where deliveries are forwarded to. Errors: `usage` for a target that is not a URL, or given twice. */
export function parseTargets(
  { forwardTo = [], route = [] }: Pick<ForwardInput, 'forwardTo' | 'route'>,
  warn: (text: string) => void,
): Target[] {
  const targets: Target[] = [...forwardTo.map((url) => ({ url })), ...route.flatMap((text) => readRoute(text) ?? [])];
  for (const { url } of targets)
    if (!isHttpAddress(url))
      throw usageError(
        `--forward-to or --route ${hideUrlSecrets(redactText(url))}: must be an http or https address${suggestScheme(hideUrlSecrets(url))}`,
      );
  const again = targets.find(
    ({ url }, index) => targets.findIndex((each) => hideUrlSecrets(each.url) === hideUrlSecrets(url)) !== index,
  );
  if (again !== undefined)
    throw usageError(
      `${hideUrlSecrets(again.url)} is given twice`,
      'Give each URL once, with --forward-to or with one --route.',
    );
  warnOfRoutes(targets, warn);
  return targets;
}
