import { createActivityApp } from '../../../pages/activity-app.ts';
import { createLiveLog } from '../../../pages/live-log.ts';
import { type ServedPages, serveWeb } from '../../../pages/serve.ts';
import type { RefusedRequest } from '../../../webhooks/listener.ts';
import { openOwnService } from '../../ui/own-service.ts';
import { type DeliveryActivityOptions, openDeliveryActivity } from './delivery-activity.ts';

export interface Page extends ServedPages {
  addRefused: (request: RefusedRequest) => void;
  /** Rejects if the inbox can no longer be read. */
  broken: Promise<never>;
}

interface PageOptions extends Omit<DeliveryActivityOptions, 'live'> {
  /** Where deliveries are received. */
  listensOn: string;
}

/** Serves the page of a listener; if a service is configured, with its calls, board and webhooks. Errors: `config`. */
export async function startPage({ listensOn, ...options }: PageOptions): Promise<Page> {
  const { context } = options;
  const live = createLiveLog();
  const service = await context.config.service().catch(() => undefined);
  const own = service?.apiKey ? await openOwnService(service, context, live) : undefined;
  const { source, addRefused, broken, stop } = openDeliveryActivity({ ...options, live });
  const end = () => Promise.all([stop(), own?.close()]);
  const facts = {
    title: 'listener',
    address: listensOn,
    line: `sotra webhook trigger new-feed-item --to ${listensOn}/hook --secret-file <file>`,
    empty: 'No deliveries yet.',
  };
  try {
    const app = createActivityApp({ facts, sources: [source, ...(own ? [own.source] : [])], live }, own?.routes);
    const served = await serveWeb({ apps: [app], warn: context.warn });
    return { ...served, addRefused, broken, close: async () => void (await Promise.all([served.close(), end()])) };
  } catch (error) {
    await end();
    throw error;
  }
}
