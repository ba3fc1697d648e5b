export interface ShownCommand {
  name: string;
  line: string;
}

export interface WalletFacts {
  /** What follows a signature: it is posted, shown as a request, or given to the user. */
  purpose: 'post' | 'show' | 'sign';
  serviceName: string;
  /** Where comments are posted. */
  destination: string | null;
  family: 'evm' | 'solana';
  /** The account that must sign; `null`: any. */
  signer: string | null;
  texts: readonly WalletText[];
  state: WalletState;
}

export interface WalletText {
  /** Of the file that it comes from. */
  line: number;
  message: string;
  /** The last part of the message. */
  commentText: string;
  chain: string;
  characters: number;
  bytes: number;
  warnings: readonly string[];
  commands: readonly ShownCommand[];
}

export interface WalletState {
  /** Who signs; `null` until the user chose. */
  account: string | null;
  /** What became of each text, such as `posted`. */
  outcomes: readonly (string | null)[];
  /** The text to be signed now; its id is good for one signature. */
  asked: { index: number; id: string } | null;
  end: { ok: boolean; text: string } | null;
}

/** Why nothing more is signed, or (`problem`) what the user has to fix first. */
export interface WalletTrouble {
  kind: 'cancelled' | 'refused' | 'failed' | 'problem';
  /** Of the wallet, or of the page. */
  text: string;
}
