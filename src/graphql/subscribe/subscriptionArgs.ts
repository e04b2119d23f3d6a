/** Of the argument `after` of every subscription. */
export const afterDescription =
  'The last revision that you have: the first frame covers what changed after it. Left out, no longer kept or not yet reached: the first frame is a SNAPSHOT.'
