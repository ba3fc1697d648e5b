/** A cheap request that shows whether a service answers and accepts the key. */
export const checkRequest = { method: 'GET', path: '/v2/leaderboard?limit=1' };
