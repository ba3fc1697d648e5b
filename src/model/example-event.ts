/**
 * The id of the example event of a validation probe, the same for every probe. Assumed: no mark of the service's own example is
 * published.
 */
export const exampleEventId = '00000000-0000-0000-0000-000000000000';
