/**
 * The id of the example event that a validation probe carries: it stands for nothing that happened, and comes again with every probe. Assumed:
 * no mark of the service's own example is published.
 */
export const exampleEventId = '00000000-0000-0000-0000-000000000000';
