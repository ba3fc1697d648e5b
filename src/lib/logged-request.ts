/** The methods of the service's endpoints. */
export const sentMethods: readonly string[] = ['GET', 'POST', 'PUT', 'DELETE'];

export interface LoggedRequest {
  time: string;
  method: string;
  path: string;
  status: number;
  ms: number;
  /** Whose key it was, `a` or `b`; `null` where it was nobody's. */
  partner: string | null;
  /** The last four characters of the key that was sent; `null` where there was none. */
  key: string | null;
  /** What was answered to a request that was refused, or why nothing was; `null` where it was served. */
  error: string | null;
  /** Names of the query and fields of the body that changed nothing. */
  ignored: readonly string[];
  /** The fault that was injected, as `--fault` has it. */
  fault?: string;
}
