// A browser may name a language that Intl does not know, such as en-US@posix. uPlot hands it to Intl as it loads, which would throw.
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US' });
}
