import { signedHeader } from '../../../api/webhook-signature.ts';
import type { Context } from '../../../context.ts';
import type { SendOutcome } from '../../../pages/activity.ts';
import { openDb } from '../../../sandbox/db/store.ts';
import { ensureWorld } from '../../../sandbox/db/world.ts';
import { sendDelivery } from '../../../sandbox/deliver/deliver.ts';
import { makeWebhookEvent } from '../../../sandbox/deliver/events.ts';
import { readEventSource } from '../run-trigger.ts';

/** Sends a listener a signed event about a buy of the built-in data, which it treats like any other. Network errors are in the outcome. */
export async function sendTestEvent(to: string, secret: string, { io, options }: Context): Promise<SendOutcome> {
  // In memory: the sandbox of the user stays as it is.
  const db = openDb(':memory:');
  try {
    ensureWorld(db, io.now(), 'demo');
    const event = makeWebhookEvent(db, readEventSource(db, { type: 'new-feed-item' }), undefined, io.now());
    const body = JSON.stringify({ events: [event] });
    const { ok, status, error } = await sendDelivery(to, body, signedHeader(secret, body, io.now()), {
      answerMs: options.timeoutMs,
      signal: io.signal,
    });
    return { id: null, text: ok ? 'Accepted.' : `Not accepted: ${status ?? error}.`, failed: !ok };
  } finally {
    db.close();
  }
}
