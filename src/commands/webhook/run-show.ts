import { maskHeader } from '../../client/secrets.ts';
import type { Context } from '../../context.ts';
import { readOwnSecrets } from '../../lib/files/secret-file.ts';
import type { Result } from '../../lib/output/result.ts';
import { headerPairs, signatureIn } from '../../webhooks/forward.ts';
import { secretDigits } from '../../webhooks/inbox.ts';
import { verifyDelivery } from '../../webhooks/verify.ts';
import { makeEventRow, type ShownEvent, shown } from './event-view.ts';
import { findEvents, notFound } from './find-events.ts';
import { withInbox } from './open-inbox.ts';
import type { ShowInput } from './params.ts';

/** One stored event with its delivery. Errors: `not-found`. */
export async function showEvent(input: ShowInput, context: Context): Promise<Result> {
  const secrets = input.secretFile === undefined ? undefined : await readOwnSecrets(input.secretFile, context);
  const none = (): Result => {
    throw notFound(`no stored event ${input.id}`);
  };
  return withInbox(input, context, none, async (inbox) => {
    const [stored] = await findEvents([input.id], inbox);
    if (stored === undefined) return none();
    const { headers, body, webhook } = stored.delivery;
    const pairs = headerPairs(headers).map(({ name, value }) => ({ name, value: maskHeader(name, value) }));
    const signed = { header: signatureIn(headers), body };
    // Without secrets only its time is read.
    const verdict = verifyDelivery(signed, secrets ?? [], { nowMs: context.io.now(), toleranceMs: undefined });
    const { valid, reason, timestamp: signedAt } = verdict;
    const verification = {
      signedAt,
      secret: secretDigits(webhook),
      ...(secrets === undefined ? {} : { valid, ...(reason === undefined ? {} : { reason }) }),
    };
    const { event, ...row } = makeEventRow(stored);
    const { forwards, status } = stored;
    const failing = status === 'waiting' ? await inbox.retries() : [];
    const retries = failing.filter((each) => each.webhook === webhook);
    const shownBody = body.toString();
    const answer: ShownEvent = { ...row, verification, headers: pairs, body: shownBody, event, forwards, retries };
    return { kind: 'answer', answer, view: shown };
  });
}
