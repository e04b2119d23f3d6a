// Does not end by TERM, INT or HUP.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => console.log(signal))
setInterval(() => undefined, 1 << 30)
console.log('ignoring')
