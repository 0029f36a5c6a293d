module payoutsandbox

go 1.19
