/** Someone of the demo world: their wallets and what the service knows of them. */
export interface Person {
  /** EVM lowercase, Solana as it is; unique over all people. */
  addresses: string[];
  name: string | null;
  images: { raw: string | null; xs: string | null; sm: string | null };
  metadata: {
    farcasterUsername?: string;
    farcasterId?: number;
    lensHandle?: string;
    ensName?: string;
    twitterHandle?: string;
    debankName?: string;
    hlName?: string;
  };
  isNSFW: false | { nsfwImage: boolean; nsfwText: boolean };
  tracking: 'unnamed' | 'backfilling' | 'active';
}
