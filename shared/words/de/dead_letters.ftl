only_counted = mehr als { $limit } verschiedene von diesem Absender: nur noch gezählt
