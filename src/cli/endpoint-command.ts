export const serviceExitCodes = [4, 5, 6, 7, 8, 9, 13, 130] as const;
