// Runs until it is ended. Prints its pid.
console.log(process.pid)
setInterval(() => undefined, 1 << 30)
