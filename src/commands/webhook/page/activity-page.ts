import { shellLine } from '../../../client/shell.ts';
import { createActivityApp } from '../../../pages/activity-app.ts';
import { createLiveLog } from '../../../pages/live-log.ts';
import { type ServedPage, servePage } from '../../../pages/serve.ts';
import { openOwnService } from '../../ui/own-service.ts';
import { type DeliveryActivity, type DeliveryActivityOptions, openDeliveryActivity } from './delivery-activity.ts';
import { sendTestEvent } from './test-event.ts';

export interface Page extends ServedPage, Pick<DeliveryActivity, 'addStored' | 'addRefused' | 'addTry'> {
  /** Rejects if the inbox can no longer be read. */
  broken: Promise<never>;
}

interface PageOptions extends Omit<DeliveryActivityOptions, 'live'> {
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
  const { source, broken, stop, ...adders } = openDeliveryActivity({ ...options, live });
  const hook = `${listensOn}/hook`;
  const end = () => Promise.all([stop(), own?.close()]);
  const facts = {
    title: 'listener',
    address: listensOn,
    line: shellLine(['sotra', 'webhook', 'trigger', 'new-feed-item', '--to', hook, '--secret-file', secretFile]),
    empty: 'No deliveries yet.',
  };
  try {
    const sendTest = () => sendTestEvent(hook, secrets[0]?.secret ?? '', context);
    const sources = [source, ...(own ? [own.source] : [])];
    const served = await servePage(createActivityApp({ facts, sources, live, sendTest }, own?.routes), context.warn);
    return {
      ...served,
      ...adders,
      broken,
      close: async () => void (await Promise.all([served.close(), end()])),
    };
  } catch (error) {
    await end();
    throw error;
  }
}
