/** What the calls of both clients are made with. */
export interface World {
  baseUrl: string;
  apiKey: string;
  trader: string;
  token: string;
  /** Unix seconds of a trade of the trader in the token on base. */
  tradedAtSec: string;
  signed: {
    chain: 'base';
    tokenAddress: string;
    transactionHash: string;
    commentText: string;
    signature: string;
    signerAddress: string;
  };
  destinationUrl: string;
}

/** The name of an endpoint, and how its call went. */
export type Calls = Record<string, unknown>;
