import { SotraError } from '../../errors.ts';
import type { WebhookList } from './endpoints.ts';

/** The webhooks that an answer lists. Errors: `contract` for another shape, of which nobody can say which webhooks there are. */
export function listed(data: WebhookList): WebhookList {
  if (Array.isArray(data)) return data;
  throw new SotraError('contract', 'the service answered with something else than a list of webhooks', {
    hint: 'See it as it came: sotra request GET /v1/webhooks/feed',
  });
}
