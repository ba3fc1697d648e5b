/** The methods of the service's endpoints. */
export const sentMethods: readonly string[] = ['GET', 'POST', 'PUT', 'DELETE'];

export interface LoggedRequest {
  time: string;
  method: string;
  path: string;
  status: number;
  ms: number;
  /** Whose key it was, `a` or `b`; `null` if it was nobody's. */
  partner: string | null;
  /** The last four characters of the key that was sent; `null` without a key. */
  key: string | null;
  /** The error in the answer, or why there was no answer; `null` if the request was served. */
  error: string | null;
  /** Names of the query and fields of the body that changed nothing. */
  ignored: readonly string[];
  /** The fault that was injected, as `--fault` has it. */
  fault?: string;
}
