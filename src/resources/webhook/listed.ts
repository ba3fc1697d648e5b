import { SotraError } from '../../errors.ts';
import type { Webhook, WebhookList } from './endpoints.ts';

/** The webhooks that an answer lists. Errors: `contract` for another shape, of which nobody can say which webhooks there are. */
export function listed(data: WebhookList): WebhookList {
  if (Array.isArray(data)) return data;
  throw new SotraError('contract', 'the service answered with something else than a list of webhooks', {
    hint: 'See it as it came: sotra request GET /v1/webhooks/feed',
  });
}

/** The secret of a listed webhook; `undefined` where the service leaves it out or masks it. */
export function shownSecret({ secret }: Pick<Webhook, 'secret'>): string | undefined {
  return secret && /^[\x21-\x7e]+$/.test(secret) && !secret.includes('*') ? secret : undefined;
}
