/** The kinds of events that the service posts to webhooks. Source: wire-facts 4.1. */
export const eventTypes = ['new-feed-item', 'comment-created', 'copyswap'] as const;

export type EventType = (typeof eventTypes)[number];

/** Why a buy makes an event: the values of its `reason`. Source: wire-facts 4.1. */
export const buyReasons = ['first-buy', 'repeat-buy', 'aped-in'] as const;
