/** Beside the input of a call. */
export interface CallOptions {
  /** Ends the call, its waits and its further attempts: it rejects with `interrupted`. */
  signal?: AbortSignal | undefined;
}

/** A method of any endpoint; the build writes what each takes and gives (scripts/library). */
export type AnyMethod = ((input?: object, options?: CallOptions) => Promise<unknown>) & {
  all?: (input?: object, options?: CallOptions) => AsyncGenerator<unknown>;
};

/** Every method, by noun and verb. */
export type Client = Readonly<Record<string, Readonly<Record<string, AnyMethod>>>>;
