import { defineEndpoint, inBody, inPath } from './endpoint.ts';
import { subscriberKind, textOf } from './formats.ts';
import { listOf, optional, text } from './kind.ts';

/** Addresses that one request may carry (section "Limits"). */
export const chunkSize = 1000;

const walletAddresses = inBody(listOf(subscriberKind, { maxItems: chunkSize }), 'wallet addresses or ext: ids');
const uid = inPath(text(), 'uid of the webhook, as in webhook list');

export const exampleUid = '2f1d3c5e-7a90-4b8c-9d6e-0f1a2b3c4d5e';
const wallet = '0xb7b6f3cea3f66bf525f5d8f965f6dbf6d9b017b2';

/** Source: interface document and wire-facts 3.18. */
export const register = defineEndpoint({
  id: 'webhook.register',
  method: 'POST',
  path: '/v1/webhooks/feed',
  summary: 'Register a webhook for the feed of a list of addresses',
  params: { walletAddresses, destinationUrl: inBody(textOf('uri'), 'destination of the feed items', { flag: 'url' }) },
  answer: async () => (await import('./answers.ts')).webhookSchema,
  sample: { walletAddresses: [wallet], destinationUrl: 'http://127.0.0.1:4242/hook' },
  examples: [
    {
      argv: `webhook register --url http://127.0.0.1:4242/hook --wallet-addresses ${wallet}`,
      says: 'the feed of one wallet, sent to this machine',
    },
    {
      argv: `webhook register --url http://127.0.0.1:4242/users --wallet-addresses ${wallet},ext:user-1 --json`,
      says: 'a wallet and one of your users, as JSON',
    },
  ],
});

/** Source: interface document and wire-facts 3.18. */
export const list = defineEndpoint({
  id: 'webhook.list',
  method: 'GET',
  path: '/v1/webhooks/feed',
  summary: 'List the webhooks of your key',
  params: {},
  answer: async () => (await import('./answers.ts')).webhooksSchema,
  examples: [
    { argv: 'webhook list', says: 'every webhook, with masked secrets' },
    { argv: 'webhook list --show-secrets --json', says: 'with the secrets, as JSON' },
  ],
});

/** Source: assumed from the interface's chunks of 1000; wire-facts 3.18. */
export const addAddresses = defineEndpoint({
  id: 'webhook.add-addresses',
  method: 'PUT',
  path: '/v1/webhooks/feed/{uid}',
  summary: 'Add addresses to a webhook',
  params: {
    uid,
    walletAddresses: { ...walletAddresses, source: 'assumed' },
    destinationUrl: inBody(optional(textOf('uri')), 'send feed items there from now on', {
      source: 'assumed',
      flag: 'url',
    }),
  },
  answer: async () => (await import('./answers.ts')).changedSchema,
  sample: { uid: exampleUid, walletAddresses: [wallet] },
  examples: [
    {
      argv: `webhook add-addresses ${exampleUid} --wallet-addresses ${wallet} --dry-run`,
      says: 'one more wallet; show what would be sent',
    },
    {
      argv: `webhook add-addresses ${exampleUid} --wallet-addresses ext:user-2 --curl`,
      says: 'one of your users, as a curl line',
    },
  ],
});

/** Source: public (the uid lets one "modify or delete"); an answer without a body is accepted. */
export const remove = defineEndpoint({
  id: 'webhook.delete',
  method: 'DELETE',
  path: '/v1/webhooks/feed/{uid}',
  source: 'public',
  summary: 'Delete a webhook',
  params: { uid },
  answer: async () => (await import('./answers.ts')).deletedSchema,
  sample: { uid: exampleUid },
  examples: [
    { argv: `webhook delete ${exampleUid} --yes --dry-run`, says: 'show what would be sent' },
    { argv: `webhook delete ${exampleUid} --yes --curl`, says: 'as a curl line' },
  ],
});

/** Source: public documentation; wire-facts 3.18. */
export const validate = defineEndpoint({
  id: 'webhook.validate',
  method: 'POST',
  path: '/v1/webhooks/feed/{uid}/validate',
  source: 'public',
  summary: 'Have the service check that a destination verifies signatures',
  description:
    'The service sends an unsigned request, which must be rejected, and a signed one, which must be answered 2xx. Exit 12 if either check ' +
    'fails. sotra webhook listen passes.',
  params: { uid },
  answer: async () => (await import('./answers.ts')).validationSchema,
  sample: { uid: exampleUid },
  examples: [
    { argv: `webhook validate ${exampleUid} --dry-run`, says: 'what would be sent' },
    { argv: `webhook validate ${exampleUid} --curl`, says: 'as a curl line' },
  ],
});

/** The kinds of events that the service posts to webhooks. Source: wire-facts 4.1. */
export const eventTypes = ['new-feed-item', 'comment-created', 'copyswap'] as const;

export type EventType = (typeof eventTypes)[number];

/** Why a buy makes an event: the values of its `reason`. Source: wire-facts 4.1. */
export const buyReasons = ['first-buy', 'repeat-buy', 'aped-in'] as const;
