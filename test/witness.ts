/** What a command line must send, typed by hand from the interface document and the public facts, never from the code. */
export interface Witness {
  argv: string | readonly string[];
  method: string;
  /** Path and query exactly as they travel. */
  path: string;
  body?: unknown;
}

const wallet = '0xA4E221aa5a7ba51b5d5c7d5c923bfb9bcebcb252';
const mint = 'So11111111111111111111111111111111111111112';
const uuid = '3f0c1f5e-6a53-4d0c-9e57-0d4b1c2f7a11';

export const witnesses: Readonly<Record<string, readonly Witness[]>> = {
  'leaderboard.list': [
    { argv: 'leaderboard list', method: 'GET', path: '/v2/leaderboard' },
    {
      argv: 'leaderboard list --chains base --chains solana --limit 10',
      method: 'GET',
      path: '/v2/leaderboard?chains=base&chains=solana&limit=10',
    },
    {
      argv: `leaderboard list --chains ethereum,hyperliquid --only-with-comments --timeframe 7d --limit 250 --viewer-addresses ${wallet},${mint}`,
      method: 'GET',
      path: `/v2/leaderboard?chains=ethereum&chains=hyperliquid&onlyWithComments=true&limit=250&timeframe=7d&viewerAddresses=${wallet}&viewerAddresses=${mint}`,
    },
    {
      argv: 'leaderboard list --no-only-with-comments --limit 1',
      method: 'GET',
      path: '/v2/leaderboard?onlyWithComments=false&limit=1',
    },
  ],
  'leaderboard.rank': [
    { argv: `leaderboard rank ${wallet}`, method: 'GET', path: `/v2/leaderboard/ranking?address=${wallet}` },
    {
      argv: `leaderboard rank ${mint} --chains solana --only-with-comments --timeframe 30d`,
      method: 'GET',
      path: `/v2/leaderboard/ranking?address=${mint}&chains=solana&onlyWithComments=true&timeframe=30d`,
    },
  ],
  'leaderboard.sections': [
    { argv: 'leaderboard sections', method: 'GET', path: '/v1/leaderboard' },
    {
      argv: 'leaderboard sections --sections chain-solana,all --limit 5 --timeframe 7d',
      method: 'GET',
      path: '/v1/leaderboard?limit=5&sections=chain-solana&sections=all&timeframe=7d',
    },
  ],
  'profile.get': [
    { argv: `profile get ${uuid}`, method: 'GET', path: `/v1/addresses/${uuid}/profile` },
    {
      argv: `profile get ext:user_abc123 --viewer-addresses ${wallet}`,
      method: 'GET',
      path: `/v1/addresses/ext%3Auser_abc123/profile?viewerAddresses=${wallet}`,
    },
    {
      argv: ['profile', 'get', 'ext:a/b c?d#e%ü'],
      method: 'GET',
      path: '/v1/addresses/ext%3Aa%2Fb%20c%3Fd%23e%25%C3%BC/profile',
    },
  ],
};
