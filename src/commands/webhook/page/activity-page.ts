import { signedHeader } from '../../../api/webhook-signature.ts';
import { shellLine } from '../../../client/shell.ts';
import type { Context } from '../../../context.ts';
import { createActivityApp, type SendOutcome } from '../../../pages/activity.ts';
import { createLiveLog, type ServedPage, servePage } from '../../../pages/serve.ts';
import { openDb } from '../../../sandbox/db/store.ts';
import { ensureWorld } from '../../../sandbox/db/world.ts';
import { sendDelivery } from '../../../sandbox/deliver/deliver.ts';
import { makeWebhookEvent } from '../../../sandbox/deliver/events.ts';
import { openOwnService } from '../../ui/service-routes.ts';
import { readEventSource } from '../run-trigger.ts';
import {
  closeDeliveryActivity,
  type DeliveryActivity,
  type DeliveryActivityOptions,
  deliverySource,
  openDeliveryActivity,
} from './delivery-activity.ts';

export interface Page extends ServedPage {
  activity: DeliveryActivity;
}

export interface PageOptions extends Omit<DeliveryActivityOptions, 'live'> {
  /** Where deliveries are received. */
  listensOn: string;
  /** The file of the first secret. */
  secretFile: string;
}

/** Serves the page of a listener; if a service is configured, with its calls, board and webhooks. Errors: `config`. */
export async function startPage({ listensOn, secretFile, ...options }: PageOptions): Promise<Page> {
  const { context, secrets } = options;
  const live = createLiveLog();
  const service = await context.config.service().catch(() => undefined);
  const own = service?.apiKey ? await openOwnService(service, context, live) : undefined;
  const activity = openDeliveryActivity({ ...options, live });
  const hook = `${listensOn}/hook`;
  const end = () => Promise.all([closeDeliveryActivity(activity), own?.close()]);
  const facts = {
    title: 'listener',
    address: listensOn,
    line: shellLine(['sotra', 'webhook', 'trigger', 'new-feed-item', '--to', hook, '--secret-file', secretFile]),
    empty: 'No deliveries yet.',
  };
  try {
    const sendTest = () => sendTestEvent(hook, secrets[0]?.secret ?? '', context);
    const sources = [deliverySource(activity), ...(own ? [own.source] : [])];
    const served = await servePage(createActivityApp({ facts, sources, live, sendTest }, own?.routes), context.warn);
    return { ...served, activity, close: async () => void (await Promise.all([served.close(), end()])) };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Sends a listener a signed event about a buy of the built-in data, which it treats like any other. Network errors are in the outcome. */
async function sendTestEvent(to: string, secret: string, { io, options }: Context): Promise<SendOutcome> {
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
