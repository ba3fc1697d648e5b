import { probeDestination } from '../../sandbox/deliver/deliver.ts';
import { addWebhook, changeWebhook, dropWebhook, findWebhook, listWebhooks } from '../../sandbox/deliver/webhooks.ts';
import type { Handler } from '../../sandbox/http/service.ts';
import type * as endpoints from './endpoints.ts';

/** POST /v1/webhooks/feed: a new webhook at every call; 400 for a destination off this machine. */
export const register: Handler<typeof endpoints.register> = ({ walletAddresses, destinationUrl }, call) => {
  const { uid, secret } = addWebhook(call, destinationUrl, walletAddresses);
  return { destinationUrl, uid, secret };
};

/** GET /v1/webhooks/feed: oldest first, with `secret` as the interface's shape says. */
export const list: Handler<typeof endpoints.list> = (_, { db, partner }) =>
  listWebhooks(db, partner.id).map(({ destinationUrl, uid, secret }) => ({ destinationUrl, uid, secret }));

/** PUT /v1/webhooks/feed/{uid}: set union; 404 for an unknown uid. */
export const addAddresses: Handler<typeof endpoints.addAddresses> = (input, call) => {
  const webhook = findWebhook(call, input.uid);
  const { uid, destinationUrl } = changeWebhook(call.db, webhook, input.walletAddresses, input.destinationUrl);
  return { destinationUrl, uid };
};

/** DELETE /v1/webhooks/feed/{uid}: `{}`; 404 for an unknown uid. */
export const remove: Handler<typeof endpoints.remove> = ({ uid }, call) => {
  dropWebhook(call.db, findWebhook(call, uid).id);
  return {};
};

/** POST /v1/webhooks/feed/{uid}/validate: two probes with an example feed item; `error` says which went wrong. */
export const validate: Handler<typeof endpoints.validate> = ({ uid }, call) =>
  probeDestination(call, findWebhook(call, uid));
