/** How many calls the log keeps. */
export const maxCalls = 2000;
