/** A value that is made when it is first asked for. */
export interface Lazy<T> {
  (): Promise<T>;
  /** Whether it was asked for. */
  started: () => boolean;
}

export function lazy<T>(make: () => Promise<T>): Lazy<T> {
  let made: Promise<T> | undefined;
  const get = () => {
    made ??= make();
    return made;
  };
  return Object.assign(get, { started: () => made !== undefined });
}
